"""Measure the costs that pages show on arrival; the machine should do nothing else meanwhile.

python -m tools.costs sweep       memory and time over the length, of Cost: engine/experiments/sweeps/shipped.json, some minutes
python -m tools.costs encodings   the forward time of each encoding: engine/experiments/benchmark/times.json, half a minute
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import torch

from engine.analysis.measurements.cost import forward_times
from engine.cli.cluster import warm_pool
from engine.cli.terminal import follow
from engine.experiments import sweeps
from engine.experiments.benchmark.costs import FILE, MODEL, machine
from engine.experiments.benchmark.criteria import COMPARED
from engine.experiments.sweeps.plan import Plan
from engine.experiments.sweeps.store import to_json
from engine.experiments.sweeps.sweep import Sweep
from engine.foundation.json_lines import json_lines

SHIPPED = Path(sweeps.__file__).with_name("shipped.json")
ROUNDS = 15  # visits of each point of the sweep


def measure_sweep(plan: Plan, file: Path = SHIPPED) -> None:
    with warm_pool("", 1) as pool:
        sweep = Sweep(plan, pool).start()
        follow(sweep, "costs")
    if sweep.state == "failed":
        raise SystemExit(sweep.problem)
    file.write_text(json.dumps(to_json(sweep.result), allow_nan=False) + "\n", encoding="utf-8")


def measure_encodings(names: Sequence[str] = COMPARED, file: Path = FILE) -> None:
    torch.set_num_threads(1)  # as in a worker
    times = forward_times([MODEL.replace(pos_encoding=name) for name in names])
    stored = {"machine": machine(), "times": dict(zip(names, times, strict=True))}
    file.write_text(json_lines(stored, 2) + "\n", encoding="utf-8")  # a line for each encoding


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sweep", "encodings"))
    if parser.parse_args(arguments).what == "sweep":
        measure_sweep(Plan(rounds=ROUNDS))
    else:
        measure_encodings()


if __name__ == "__main__":
    main()
