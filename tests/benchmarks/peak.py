"""Predicted against real peak memory: ``python -m tests.benchmarks.peak``. About eight minutes; prints a table.

Each config is trained for a few steps in a process of its own, with everything that the lab records. Real is the highest
resident memory above that of a process which has trained the smallest run before, as a worker has. Linux only.
"""

import argparse
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.prediction import predict
from engine.foundation.child import child_environment
from engine.runs.record_options import RecordOptions

MEDIUM = {"task": "k_back", "seq_len": 128, "d_model": 64, "n_heads": 4, "n_layers": 2, "batch_size": 32, "steps": 3}
BASELINE = {"task": "k_back", "seq_len": 128, "d_model": 128, "n_layers": 2, "batch_size": 64, "steps": 3}


def grid() -> Iterator[tuple[str, dict[str, Any]]]:
    """The configs by name: every encoding and family, and what else changes the memory, small to about a gigabyte."""
    yield "the default run", {}
    yield "2 layers, d64, length 32", {"n_layers": 2, "d_model": 64, "n_heads": 4, "seq_len": 32, "steps": 20}
    for name in ENCODINGS:
        yield name, {**MEDIUM, "pos_encoding": name}
    for name in ("rope", "xpos", "cope", "shaw", "fire"):
        yield f"{name}, encoder", {**MEDIUM, "family": "encoder", "pos_encoding": name}
    yield "encoder-decoder", {**MEDIUM, "task": "reverse", "family": "encoder_decoder"}
    yield "materialised", {**MEDIUM, "attention_impl": "materialised"}
    yield "materialised, dropout", {**MEDIUM, "attention_impl": "materialised", "dropout": 0.1}
    yield "fused, dropout", {**MEDIUM, "dropout": 0.1}
    yield "additive", {**MEDIUM, "attention_impl": "materialised", "attention_score": "additive", "batch_size": 4}
    yield "bfloat16", {**MEDIUM, "dtype": "bfloat16"}
    yield "bfloat16, mixed", {**MEDIUM, "dtype": "bfloat16_mixed"}
    yield "bfloat16, mixed, written", {**MEDIUM, "dtype": "bfloat16_mixed", "task": "reverse"}
    yield "wide, batch 1", {"d_model": 1024, "n_heads": 8, "n_layers": 4, "batch_size": 1, "steps": 3}
    yield "wide, SGD", {"d_model": 1024, "n_heads": 8, "n_layers": 4, "optimizer": "sgd", "steps": 3}
    yield "wide, Muon", {"d_model": 512, "n_heads": 8, "n_layers": 8, "optimizer": "muon", "steps": 3}
    yield "long, fused", {**MEDIUM, "seq_len": 1024, "batch_size": 8}
    yield "long, batch 1, 64 heads", {**MEDIUM, "task": "reverse", "seq_len": 256, "n_heads": 64, "batch_size": 1}
    many_heads = {"task": "reverse", "seq_len": 512, "n_layers": 6, "n_heads": 8, "batch_size": 1}
    yield "6 layers, 8 heads, length 512", {**MEDIUM, **many_heads, "steps": 1}
    yield "a gigabyte", {**MEDIUM, "d_model": 256, "batch_size": 128, "n_layers": 4}
    yield "test lengths", {**MEDIUM, "pos_encoding": "alibi", "seq_len": 16, "test_lengths": "512"}
    yield "fixed set", {**MEDIUM, "dataset_size": 200_000}
    yield "text", {"task": "shakespeare_chars", "seq_len": 128, "d_model": 128, "n_layers": 2, "n_heads": 4, "steps": 3}
    for family in ("gru", "lstm", "cnn"):
        yield family, {**BASELINE, "family": family}
        yield f"{family}, small", {**BASELINE, "family": family, "d_model": 32, "batch_size": 32, "seq_len": 16}
        yield f"{family}, batch 512", {**BASELINE, "family": family, "batch_size": 512, "seq_len": 64}
        yield f"{family}, wide", {**BASELINE, "family": family, "d_model": 768, "batch_size": 16, "seq_len": 32}
    yield "gru, written", {**BASELINE, "family": "gru", "task": "reverse"}


def train_all(flat: dict[str, Any], *measurements: str) -> None:
    """Train a config, measure the model, and store its weights as a worker does."""
    from engine.analysis.measurements.take import take_measurement
    from engine.model.build import save_weights
    from engine.training.train import prepare, train

    config = parse({"device": "cpu", **flat})
    model = prepare(config)
    for _ in train(config, model, RecordOptions(measurements=measurements), measure=take_measurement):
        pass
    with tempfile.TemporaryDirectory() as folder:
        save_weights(model, Path(folder) / "weights.safetensors")


def resident(line: str) -> int:
    """``VmRSS`` or the highest so far, ``VmHWM``, of this process in bytes."""
    found = re.search(rf"{line}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return 1024 * int(found[1])


def show_peak(flat: dict[str, Any], *measurements: str) -> None:
    """Print the bytes that a config takes above a process that has trained before."""
    import torch

    torch.set_num_threads(1)
    train_all({"steps": 1, "batch_size": 2})
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the highest so far starts anew
    before = resident("VmRSS")
    train_all(flat, *measurements)
    print(resident("VmHWM") - before)


def real_peak(flat: dict[str, Any]) -> int:
    """The bytes that a config takes, measured in a process of its own with the environment of a worker."""
    command = [sys.executable, "-m", "tests.benchmarks.peak", "--one", json.dumps(flat)]
    environment = child_environment(os.environ)
    return int(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def predicted(flat: dict[str, Any]) -> tuple[RunConfig, int, bool]:
    """The config, its predicted peak, and whether there is a formula for what it saves."""
    config = parse({"device": "cpu", **flat})
    told = predict(config)
    return config, told.peak, told.memory.saved is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", help="flat settings as JSON: print the bytes of that one")
    parser.add_argument("--measure", nargs="*", default=(), help="measurements that are taken from that one")
    given = parser.parse_args()
    if given.one:
        show_peak(json.loads(given.one), *given.measure)
        return
    print("| run | formula | predicted (MiB) | real (MiB) | predicted / real |")
    print("|---|---|--:|--:|--:|")
    for name, flat in grid():
        _, told, formula = predicted(flat)
        real = real_peak(flat)
        row = f"{told / 2**20:.0f} | {real / 2**20:.0f} | {told / max(1, real):.2f}"
        print(f"| {name} | {'yes' if formula else 'bound'} | {row} |", flush=True)


if __name__ == "__main__":
    main()
