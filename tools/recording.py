"""The cost of recording: ``python -m tools.recording``. About three minutes; prints the table of ``docs/load.md``.

Each run is trained in a worker with everything that the lab shows and, beside it, with nothing recorded but the last
validation; the ratio is of their wall times from the first step to the end, the median of the pairs.

``--against COMMIT`` has that commit's own program print its table in turns with this one's, ``--rounds`` times each.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from engine.config.run_config import RunConfig, parse
from engine.foundation.files import DATA_VARIABLE
from engine.runs.events import Progress
from engine.runs.record_options import DEFAULT_RECORD, RecordOptions
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.serving.pool import Pool
from tools.against import checkout, name_of
from tools.server import ROOT

PAIRS = 7
NOTHING = RecordOptions(snapshots=False, evaluations=1, memory=False, remedy=False)
CASES = {
    "the default run": {},
    "2 layers, d_model 64, 4 heads, length 32": {"n_layers": 2, "d_model": 64, "n_heads": 4, "seq_len": 32},
    "length 64": {"seq_len": 64},
    "4 layers, 1,000 steps": {"n_layers": 4, "steps": 1000},
}


def seconds(pool: Pool, config: RunConfig, record: RecordOptions) -> float:
    run = pool.submit(RunRequest(config, record=record))
    while not any(isinstance(event, Progress) for event in run.events):
        run.wait_for(len(run.events) + 1)
    began = time.perf_counter()
    while run.live:
        run.wait_for(len(run.events) + 1)
    assert run.state == "finished"
    return time.perf_counter() - began


def measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ[DATA_VARIABLE] = folder
        with Pool(Runs(Path(folder) / "runs"), size=1) as pool:
            pool.wait_until_ready(120)
            print("| run | recorded (s) | nothing recorded (s) | ratio |")
            print("|---|--:|--:|--:|")
            for name, flat in CASES.items():
                config = parse({**flat, "device": "cpu"})
                seeded = [config.replace(seed=seed) for seed in range(PAIRS)]
                pairs = [[seconds(pool, one, record) for record in (DEFAULT_RECORD, NOTHING)] for one in seeded]
                full, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
                ratio = statistics.median(with_it / without for with_it, without in pairs)
                print(f"| {name} | {full:.2f} | {bare:.2f} | {ratio:.2f} |", flush=True)


def program_of(root: Path) -> str:
    # a commit may be older than this folder
    return "tools.recording" if (root / "tools" / "recording.py").exists() else "tests.benchmarks.recording"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args(arguments)
    if not given.against:
        measure()
        return
    with checkout(given.against) as other:
        for _ in range(given.rounds):
            for root in (ROOT, other):
                print(f"Commit {name_of(root)}:", end="\n\n", flush=True)
                subprocess.run([sys.executable, "-m", program_of(root)], cwd=root, check=True)


if __name__ == "__main__":
    main()
