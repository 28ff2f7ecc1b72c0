"""Predicted against real peak memory: ``python -m tools.peak``. About six minutes; prints a table.

Each config is trained for a few steps in a separate process, with everything that the lab records. Real is the highest resident
memory above that of a process which has trained the smallest run before, as a worker has. Linux only.
"""

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from engine.analysis.measurements.take import take_measurement
from engine.config.run_config import parse
from engine.encodings import ENCODINGS
from engine.estimate.prediction import predict
from engine.model.build import save_weights
from engine.runs.record_options import RecordOptions
from engine.serving.processes.child import child_environment
from engine.training.train import prepare, train
from tools import settings

MEDIUM = {"task": "k_back", "seq_len": 128, "d_model": 64, "n_heads": 4, "n_layers": 2, "batch_size": 32, "steps": 3}
# every encoding and family, and other causes of memory, from small to about a gigabyte
CHANGES = (
    "family=encoder_decoder task=reverse",
    "attention_impl=materialised dropout=0.1",
    "attention_impl=materialised attention_score=additive batch_size=4",
    "dropout=0.1",
    "dtype=bfloat16",
    "dtype=bfloat16_mixed task=reverse",
    "d_model=1024 n_heads=8 n_layers=4 batch_size=1",
    "d_model=512 n_heads=8 n_layers=8 optimizer=muon",
    "seq_len=1024 batch_size=8",
    "seq_len=256 n_heads=64 batch_size=1 task=reverse",
    "d_model=256 n_layers=4 batch_size=128",
    "pos_encoding=alibi seq_len=16 test_lengths=512",
    "dataset_size=200000",
    "task=shakespeare_chars",
    "family=gru task=reverse",
    *(f"pos_encoding={name}" for name in ENCODINGS),
    *(f"pos_encoding={name} family=encoder" for name in ("rope", "xpos", "cope", "shaw", "fire")),
    *(f"family={name} d_model=128 batch_size=64" for name in ("gru", "lstm", "cnn")),
    *(f"family={name} d_model=128 batch_size=512 seq_len=64" for name in ("gru", "lstm", "cnn")),
)


def train_all(flat: dict[str, Any], *measurements: str) -> None:
    config = parse({"device": "cpu", **flat})
    model = prepare(config)
    for _ in train(config, model, RecordOptions(measurements=measurements), measure=take_measurement):
        pass
    with tempfile.TemporaryDirectory() as folder:
        save_weights(model, Path(folder) / "weights.safetensors")


def resident(line: str) -> int:
    """``VmRSS`` or the highest so far, ``VmHWM``, of this process in bytes."""
    size = re.search(rf"{line}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert size
    return 1024 * int(size[1])


def show_peak(flat: dict[str, Any], *measurements: str) -> None:
    """Print the bytes that a config takes above a process that has trained before."""
    torch.set_num_threads(1)
    train_all({"steps": 1, "batch_size": 2})
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the highest so far
    before = resident("VmRSS")
    train_all(flat, *measurements)
    print(resident("VmHWM") - before)


def real_peak(flat: dict[str, Any], *measurements: str) -> int:
    """The bytes that a config takes, measured in a separate process with the environment of a worker."""
    command = [sys.executable, "-m", "tools.peak", json.dumps(flat), *measurements]
    environment = child_environment(os.environ)
    return int(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def main() -> None:
    print("| changed | formula | predicted (MiB) | real (MiB) | predicted / real |")
    print("|---|---|--:|--:|--:|")
    for change in CHANGES:
        flat = {**MEDIUM, **settings(change)}
        predicted, real = predict(parse({"device": "cpu", **flat})), real_peak(flat)
        row = f"{predicted.peak / 2**20:.0f} | {real / 2**20:.0f} | {predicted.peak / max(1, real):.2f}"
        print(f"| {change} | {'bound' if predicted.memory.saved is None else 'yes'} | {row} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:  # the process of one config
        show_peak(json.loads(sys.argv[1]), *sys.argv[2:])
    else:
        main()
