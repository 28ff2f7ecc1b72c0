"""Measure the memory and time that each encoding adds to a training step, and write ``engine/estimate/encoding_costs.toml``.

``python -m tools.encoding_costs`` measures all encodings, ``python -m tools.encoding_costs rope`` one; the others' rows stay. A
step with the encoding and one without take turns, and the medians of their processor time are compared.

``kept`` and ``held`` are the largest factors over :data:`FITTED`, with a margin. On other sizes and settings (:data:`HELD_OUT`) no
prediction may be below the measurement; the largest ratio of the two is written as ``worst``.
"""

import argparse
import itertools
import statistics
import time
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.encoding_costs import FILE, EncodingCost, costs, encoding_saved_bytes, encoding_work, numbers_of
from engine.estimate.flops import flops_per_step
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters, has_formula, predict_memory
from engine.estimate.peak import step_bytes
from engine.estimate.pieces import pass_bytes, writes_out
from engine.foundation.provenance import provenance
from engine.settings.costs import SINGLE
from engine.training.evaluation import evaluate, forward, loss_of
from engine.training.measured_memory import measure_memory, peak_bytes
from engine.training.train import begin

MARGIN = 1.25
ROWS = 32  # sequences of the pass without gradient
SHARED = {
    "family": ("decoder", "encoder"),
    "dtype": ("float32", "bfloat16_mixed"),
    "attention_impl": ("fused", "materialised"),
}
FITTED = {"batch_size": (2, 16), "seq_len": (8, 48), "d_model": (16, 48), "n_heads": (1, 4), **SHARED}
HELD_OUT = {"batch_size": (4, 32), "seq_len": (20, 96), "d_model": (32, 64), "n_heads": (2, 8), **SHARED}
# settings of an encoding that are tried besides its defaults
SPECIFIC: dict[str, list[dict[str, Any]]] = {
    "shaw": [{"shaw_max_distance": 48}, {"shaw_max_distance": 2}, {"attention_score": "additive"}],
    "cope": [{"cope_counts": 256}, {"cope_counts": 4}],
    "fire": [{"fire_width": 128}, {"fire_width": 4}],
    "kerple": [{"kerple_kernel": "power"}],
    "fourier": [{"fourier_frequencies": 128, "fourier_width": 8}, {"fourier_width": 256}],
    "mlp": [{"position_mlp_width": 256}, {"position_mlp_layers": 4}, {"position_mlp_layers": 1}],
    "conv": [{"conv_reach": 16}],
    "t5_bias": [{"t5_buckets": 64}],
}
TIMED = {"task": "k_back", "device": "cpu", "batch_size": 16, "seq_len": 64, "d_model": 64, "n_heads": 4, "n_layers": 2}
STEPS = 15


def configs(name: str, sizes: dict[str, tuple[Any, ...]], every: int = 1) -> Iterator[RunConfig]:
    specific = [{}, *SPECIFIC.get(name, [])]
    for number, values in itertools.islice(enumerate(itertools.product(*sizes.values())), 0, None, every):
        flat = dict(zip(sizes, values, strict=True)) | specific[number // 7 % len(specific)]
        if flat.get("attention_score") == "additive":
            flat["attention_impl"] = "materialised"
        yield parse({"task": "k_back", "n_layers": 2, "device": "cpu", "pos_encoding": name, **flat})


class MeasuredCost:
    """The bytes of a step and of a pass without gradient, measured once."""

    def __init__(self, config: RunConfig) -> None:
        self.config, self.sizes = config, shapes(config)
        state = begin(config)
        step = measure_memory(state.model, state.upcoming(1)[0], [])
        batch = state.data.validation_batch(size=ROWS)
        self.saved = step.saved or 0
        self.step = (step.peak or 0) - step.parameters - step.gradients
        self.passing = peak_bytes(lambda: evaluate(state.model, batch), torch.device("cpu"))

    def extra_numbers(self) -> float:
        """The least factor ``kept`` with which the prediction is not below the measurement."""
        if not has_formula(self.config):
            return 0.0
        predicted = predict_memory(self.config, self.sizes).saved or 0
        length = self.sizes.length
        plain = predicted - encoding_saved_bytes(self.config, self.config.batch_size, length)
        times = 1 if self.config.encoding.acts_on == "embedding" else self.config.n_layers
        return (self.saved - plain) / (SINGLE * times * numbers_of(self.config, self.config.batch_size, length))

    def predictions(self) -> dict[str, tuple[int, int]]:
        """The prediction and the measurement, in bytes, by name."""
        config, memory = self.config, predict_memory(self.config, self.sizes)
        pairs = {
            "step": (step_bytes(config, self.sizes, memory), self.step),
            "pass": (pass_bytes(config, self.sizes, ROWS, written_out=writes_out(config)), self.passing),
        }
        return pairs if memory.saved is None else pairs | {"saved": (memory.saved, self.saved)}

    def is_bounded(self) -> bool:
        return all(predicted >= real for predicted, real in self.predictions().values())


def fit(name: str) -> EncodingCost:
    costs()[name] = EncodingCost(0.0, 0.0, 0.0)
    steps = [MeasuredCost(config) for config in configs(name, FITTED, every=3)]
    most_extra = max(one.extra_numbers() for one in steps)
    exact = most_extra <= 0 and all(abs(one.extra_numbers()) < 1e-9 for one in steps)
    cost = EncodingCost(0.0 if exact else round(MARGIN * max(most_extra, 0.0), 3), 0.0, 0.0)
    for share in itertools.count(0.0, 0.25):
        costs()[name] = cost = replace(cost, held=share)
        if all(one.is_bounded() for one in steps):
            return replace(cost, held=round(MARGIN * share, 3))
    raise AssertionError


def worst(name: str, every: int = 7) -> dict[str, float]:
    """The largest ratios of prediction and measurement on held-out sizes. Raises ValueError if a prediction is below."""
    ratios: dict[str, float] = {}
    for config in configs(name, HELD_OUT, every):
        for what, (predicted, real) in MeasuredCost(config).predictions().items():
            if predicted < real:
                raise ValueError(
                    f"{what} of {name}: predicted {predicted:,.0f}, measured {real:,.0f} bytes at {config.flat()}"
                )
            ratios[what] = max(ratios.get(what, 1.0), predicted / real)
    return ratios


def work(name: str) -> float:
    """The FLOPs that take as long as the encoding, for each number by which it is counted."""
    plain = parse(TIMED | {"pos_encoding": "nope"})
    chosen = plain.replace(pos_encoding=name)
    models = [begin(plain), begin(chosen)]
    batches = [one.upcoming(1)[0] for one in models]
    seconds: list[list[float]] = [[], []]
    for _ in range(STEPS + 2):
        for one, batch, durations in zip(models, batches, seconds, strict=True):
            began = time.process_time()
            loss_of(forward(one.model, batch).float(), batch.targets).backward()
            durations.append(time.process_time() - began)
    without, with_it = (statistics.median(durations[2:]) for durations in seconds)
    sizes = shapes(plain)
    flops = flops_per_step(plain, count_parameters(plain, sizes), sizes.length)
    costs()[name] = replace(costs()[name], work=1.0)
    return max(0.0, (with_it / without - 1) * flops / encoding_work(chosen, chosen.batch_size, sizes.length))


def main() -> None:
    parser = argparse.ArgumentParser("python -m tools.encoding_costs", description="Measure the costs of encodings.")
    parser.add_argument(
        "names", nargs="*", choices=[*ENCODINGS, []], metavar="ENCODING", help="default: all except designs"
    )
    names = parser.parse_args().names or [name for name in ENCODINGS if name != "designed"]
    torch.set_num_threads(1)
    rows, errors = dict(costs()), dict(tomllib.loads(FILE.read_text("utf-8")).get("worst", {}))
    for name in names:
        cost = fit(name)
        costs()[name] = cost
        errors[name] = worst(name)
        rows[name] = replace(cost, work=0.0 if name == "nope" else float(f"{work(name):.3g}"))
        print(f"{name}: {rows[name]}, worst {errors[name]}", flush=True)
    origin = provenance()
    lines = ["# Written by python -m tools.encoding_costs: see engine/estimate/encoding_costs.py.", "", "[measured]"]
    lines += [f'{key} = "{origin[key]}"' for key in ("date", "processor", "torch")]
    lines += ["", "[costs]"]
    lines += [
        f"{name} = {{ kept = {row.kept}, held = {row.held}, work = {row.work} }}" for name, row in sorted(rows.items())
    ]
    lines += ["", "[worst] # the largest prediction over what was measured, on sizes and settings that were not fitted"]
    for name, ratios in sorted(errors.items()):
        lines.append(f"{name} = {{ {', '.join(f'{what} = {ratio:.2f}' for what, ratio in ratios.items())} }}")
    FILE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
