"""A GPU beside nanoGPT's architecture and a CPU core: ``python -m tests.benchmarks.gpu``. It makes the tables of ``docs/gpu.md``.

    python -m tests.benchmarks.gpu --json FILE                        measure on this machine; all numbers into a file as they come
    python -m tests.benchmarks.gpu --read FILE --write docs/gpu.md    write the tables of such a file into the document
    python -m tests.benchmarks.gpu --only agreement --soak 120        some of the parts; and two minutes of mixed runs

steps      milliseconds of a training step, of nanoGPT and of the engine, and what recording costs
seeds      seconds of eight seeds beside one, through the worker pool
issue      seconds from Run to the last trial of an issue with eight seeds, the pool being warm
class      seconds until the last of thirty visitors who press Train at once has a first point
agreement  the losses of every encoding, family and task on the device and on the CPU, and captured and eager
"""

import argparse
import logging
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import torch

from engine.foundation.files import DATA_VARIABLE
from engine.foundation.log import LOG
from engine.foundation.provenance import cpu_name, short_commit, today
from engine.hosting.host import cores
from engine.hosting.limits import Limits
from engine.runs.store import Runs
from engine.workers.pool import Pool
from tests.benchmarks.gpu import agreement, pooled, soak, steps
from tests.benchmarks.gpu.nanogpt import Size
from tests.benchmarks.gpu.table import Aim, Cell, Notebook, markdown, read_lines, write_into

TITLES = {
    steps.PART: "ms per step", pooled.SEEDS_PART: "through the pool", pooled.ISSUE_PART: "an issue", pooled.CLASS_PART: "a class",
    agreement.PART: "losses", soak.PART: "mixed runs",
}  # fmt: skip
"""The first head of each part's table."""


@dataclass(frozen=True)
class Plan:
    """What is measured, and how often."""

    sizes: Sequence[tuple[Size, int]]
    """Each with the steps of one repeat."""
    compiled: int
    """The number of sizes, of the last, at which nanoGPT is compiled, too."""
    on_cpu: int
    """The number of sizes, of the first, at which one CPU core is timed, too."""
    seeds: int
    """The same for eight seeds."""
    repeats: int
    issue_seeds: int
    visitors: int = 30
    changes: Mapping[str, object] = field(default_factory=dict)
    """Settings of the issue's trials and of the visitors' runs that differ."""
    cases: int | None = None
    """The number of cases whose losses are compared; None: all."""


FULL = Plan(
    ((Size(32, 16, 1), 1200), (Size(64, 64, 2), 800), (Size(128, 128, 4), 400), (Size(256, 256, 6, 8), 160),
     (Size(384, 256, 6, 6, 64), 100)),
    compiled=2, on_cpu=3, seeds=2, repeats=3, issue_seeds=8,
)  # fmt: skip
TINY = Plan(
    ((Size(8, 4, 1, 2, 4), 12), (Size(16, 8, 1, 2, 4), 12)),
    compiled=0, on_cpu=1, seeds=1, repeats=1, issue_seeds=1, visitors=4, changes={"steps": 5}, cases=3,
)  # fmt: skip
"""For a test."""

NAMES = [str(size) for size, _ in FULL.sizes]
AIMS = [
    *(
        Aim(steps.PART, name, steps.OURS, most, steps.NANOGPT)
        for name, most in zip(NAMES, (0.15, 0.2, 0.4), strict=False)
    ),
    Aim(steps.PART, NAMES[-1], steps.OURS_MIXED, 1.1, steps.COMPILED),
    *(Aim(steps.PART, name, steps.RECORDED, 1.1) for name in NAMES),
    *(Aim(pooled.SEEDS_PART, name, pooled.EIGHT, 2, pooled.ONE) for name in NAMES[:2]),
    *(Aim(pooled.SEEDS_PART, name, pooled.STEP_OF[1], 2, pooled.STEP_OF[0]) for name in NAMES[:2]),
    *(
        Aim(pooled.ISSUE_PART, pooled.issue_row(where, FULL.issue_seeds), pooled.SECONDS, 3)
        for where in ("auto", "cuda")
    ),
    Aim(pooled.CLASS_PART, pooled.PRESSED, pooled.FIRST_POINT, 1),
    *(Aim(agreement.PART, row, agreement.TO_LOOK_AT, 0) for row in (agreement.ON_CPU, agreement.EAGER)),
    *(Aim(soak.PART, soak.ROW, column, 0) for column in (soak.UNEXPLAINED, soak.LOST)),
]


def machine(device: str) -> str:
    """The card and its driver, or the processor; torch, Python, cores; the commit and the day."""
    card = cpu_name()
    if device == "cuda":
        card = f"{torch.cuda.get_device_name()}, driver {driver()}"
    about = f"torch {torch.__version__}, Python {platform.python_version()}, {cores()} cores"
    return f"{card}, {about}; commit {short_commit() or 'unknown'}, {today()}"


def driver() -> str:
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    with suppress(OSError):
        return subprocess.run(asked, capture_output=True, text=True).stdout.strip() or "unknown"
    return "unknown"


def measure(notes: Notebook, device: str, plan: Plan, only: Sequence[str]) -> None:
    if steps.PART in only:
        for number, (size, many) in enumerate(
            plan.sizes
        ):  # first, since torch does not like its old and new switch of TF32 in turns
            compiled = number >= len(plan.sizes) - plan.compiled
            steps.measure_nanogpt(notes, size, max(2, many // 10), device, plan.repeats, compiled=compiled)
        for number, (size, many) in enumerate(plan.sizes):
            steps.measure_ours(notes, size, many, device, plan.repeats, cpu=number < plan.on_cpu)
    if {pooled.SEEDS_PART, pooled.ISSUE_PART, pooled.CLASS_PART} & {*only}:
        measure_pooled(notes, device, plan, only)
    if agreement.PART in only:
        given = agreement.cases()
        agreement.measure_agreement(notes, device, dict(islice(given.items(), plan.cases)))


def measure_pooled(notes: Notebook, device: str, plan: Plan, only: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, Pool(Runs(Path(folder)), Limits()) as pool:
        pool.wait_until_ready(300)
        if pooled.SEEDS_PART in only:
            for size, many in plan.sizes[: plan.seeds]:
                pooled.measure_seeds(notes, pool, size, many, device, plan.repeats)
        if pooled.ISSUE_PART in only:
            for where in ("auto", device) if device != "cpu" else ("cpu",):  # without a GPU the two are one
                pooled.measure_issue(notes, pool, where, plan.issue_seeds, plan.repeats, plan.changes)
        if pooled.CLASS_PART in only:
            pooled.measure_class(notes, pool, device, plan.visitors, plan.changes)


def main() -> None:
    parts = [part for part in TITLES if part != soak.PART]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--only", nargs="*", choices=parts, default=parts, help="the parts; by default all", metavar="PART"
    )
    parser.add_argument(
        "--soak", type=float, default=0.0, help="seconds of random runs through the pool", metavar="SECONDS"
    )
    parser.add_argument("--tiny", action="store_true", help="sizes and numbers for a test")
    parser.add_argument("--json", type=Path, help="write the numbers as JSON lines, as they come", metavar="FILE")
    parser.add_argument("--read", type=Path, help="measure nothing: take the numbers of such a file", metavar="FILE")
    parser.add_argument(
        "--write", type=Path, help="write the tables into this document, between its marks", metavar="FILE"
    )
    given = parser.parse_args()
    if given.read:
        about, cells = read_lines(given.read)
    else:
        about, cells = measured(given)
    tables = markdown(about, cells, TITLES, AIMS)
    print(tables)
    if given.write:
        write_into(given.write, tables)


def measured(given: argparse.Namespace) -> tuple[str, list[Cell]]:
    """The machine and the numbers of what the command line asks for."""
    torch.set_num_threads(1)
    LOG.setLevel(logging.WARNING)  # such as that a step could not be recorded
    notes = Notebook(machine(given.device), given.json)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[DATA_VARIABLE] = folder
        measure(notes, given.device, TINY if given.tiny else FULL, given.only)
        if given.soak:
            for sentence in soak.measure_soak(notes, Path(folder) / "runs", given.device, given.soak):
                print(sentence, file=sys.stderr)
    return notes.machine, notes.cells


if __name__ == "__main__":
    main()
