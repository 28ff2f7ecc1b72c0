"""The memory of worker processes after use: ``python -m tests.benchmarks.workers``. Private is what each has of its own.

app               two workers and two question processes, after two visitors have trained and asked
public            the same with profile ``public`` and three visitors; the app's page process comes on top
"""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from engine.config.run_config import RunConfig
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.workers.hosting.limits import PROFILES, Limits
from engine.workers.pool import TRAINING, Pool
from tests.engine.fake_training import Nap


def used(size: int, limits: Limits, visitors: int) -> dict[str, float]:
    """MiB of a pool's processes after so many visitors have trained a run each, and asked a question at the same time."""
    people = [Visitor(f"visitor {number}") for number in range(visitors)]
    with tempfile.TemporaryDirectory() as folder, Pool(Runs(Path(folder)), limits, size, training=TRAINING) as pool:
        pool.wait_until_ready(600)
        configs = [RunConfig().replace(steps=300, seed=number) for number in range(visitors)]
        runs = [pool.submit(RunRequest(*both)) for both in zip(configs, people, strict=True)]
        with ThreadPoolExecutor(visitors) as threads:
            asked = [threads.submit(pool.ask, Nap(0.5 + number / 100), person) for number, person in enumerate(people)]
            for answer in asked:
                answer.result()
        while any(run.live for run in runs):
            time.sleep(0.002)
        facts = [process.memory_full_info() for process in psutil.Process().children(recursive=True)]
    return {
        f"{len(facts)} processes, private": sum(fact.uss for fact in facts) / 2**20,
        "with what they share, once": sum(getattr(fact, "pss", fact.uss) for fact in facts) / 2**20,
    }


def main() -> None:
    found = {
        "app": used(2, Limits(job_processes=2), 2),
        "public": used(1, Limits.model_validate(PROFILES["public"]), 3),
    }
    for name, rows in found.items():
        for what, size in rows.items():
            print(f"{name:12} {what:28} {size:.0f} MiB")


if __name__ == "__main__":
    main()
