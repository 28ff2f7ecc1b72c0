"""Random runs through the pool, which are paused, stepped, suspended and stopped at random: how many fail for no reason of their own?"""

import random
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from engine.architectures import ARCHITECTURES
from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.foundation.errors import Refused
from engine.foundation.visitor import Visitor
from engine.hosting.limits import Limits
from engine.runs.events import Failed, Progress
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.settings.errors import ConfigError
from engine.workers.pool import Pool
from tests.benchmarks.gpu.steps import MIXED, allowed
from tests.benchmarks.gpu.table import Notebook

PART, ROW = "mixed", "random runs"
UNEXPLAINED, LOST = "failed for no reason of their own", "workers lost"
ON_THE_WORKER, AT_ONCE, VISITORS = 5, 10, 5
"""The runs that the one worker takes, those that go or wait at once, so that paused ones are suspended, and their owners."""
TOO_HIGH = 10.0
"""The learning rate of the runs that are meant to fail."""
ACTIONS = {"pause": 6, "step": 4, "resume": 8, "set pace": 2, "stop": 0.2, "leave": 1, "come back": 2}
"""What is done next, and how often beside the others."""
CHOICES: Mapping[str, tuple[object, ...]] = {
    "task": ("reverse", "copy", "k_back", "recall", "parity", "shakespeare_chars"),
    "family": (*ARCHITECTURES, "decoder", "decoder", "decoder"),
    "pos_encoding": tuple(ENCODINGS),
    "d_model": (16, 32, 64, 128), "n_heads": (1, 2, 4), "n_layers": (1, 2, 3, 4), "seq_len": (6, 16, 32, 64), "batch_size": (8, 32, 64),
    "min_seq_len": (None, None, None, 5), "dropout": (0.0, 0.0, 0.1), "optimizer": ("adamw", "adamw", "sgd", "muon"),
    "dtype": ("float32", "float32", "bfloat16", *([MIXED, MIXED] if allowed(dtype=MIXED) else [])),
    "norm": ("pre", "pre", "post"), "mask_fault": ("none", "none", "missing", "off_by_one"), "share_layers": (False, False, True),
    "learning_rate": (*[0.001] * 15, TOO_HIGH), "steps": (20, 200, 1000, 3000),
}  # fmt: skip


def drawn(draw: random.Random, device: str) -> RunConfig:
    """A config of random settings that go together."""
    while True:
        with suppress(ConfigError):
            chosen = {name: draw.choice(values) for name, values in CHOICES.items()}
            return parse({**chosen, "seed": draw.randrange(1000), "device": device})


class Soak:
    """The runs of some visitors on a pool, and what has been done to them."""

    def __init__(self, draw: random.Random, device: str) -> None:
        self.draw, self.device = draw, device
        self.runs, self.pids, self.suspended = list[Run](), set[int](), set[str]()
        self.visitors = [Visitor(f"visitor {number}", f"10.0.0.{number}") for number in range(VISITORS)]
        self.here = {visitor.id for visitor in self.visitors}
        self.refused, self.seconds = 0, 0.0

    def play(self, pool: Pool, seconds: float) -> None:
        """So many seconds of it; then all come back, and what still goes is stopped."""
        began, end = time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < end:
            self.look(pool)
            while len(live := [run for run in self.runs if run.live]) < AT_ONCE:
                self.submit(pool)
            self.act(pool, self.draw.choice(live) if live else self.runs[-1])
            time.sleep(self.draw.uniform(0, 0.3))
        self.here.update(visitor.id for visitor in self.visitors)
        while going := [run for run in self.runs if run.live]:
            for run in going:
                pool.stop(run.id)
            time.sleep(0.1)
        self.look(pool)
        self.seconds = time.monotonic() - began

    def submit(self, pool: Pool) -> None:
        request = RunRequest(drawn(self.draw, self.device), self.draw.choice(self.visitors))
        try:
            self.runs.append(pool.submit(request))
        except Refused:
            self.refused += 1

    def act(self, pool: Pool, run: Run) -> None:
        [action] = self.draw.choices(list(ACTIONS), list(ACTIONS.values()))
        with suppress(Refused):  # it is over, or there is no room for one that was suspended
            match action:
                case "pause" | "step" | "resume":
                    pool.steer(run.id, action)
                case "set pace":
                    pool.steer(run.id, action, pace=self.draw.choice((None, 5, 50)))
                case "stop":
                    pool.stop(run.id)
                case "leave":
                    self.here.discard(run.owner)
                case "come back":
                    self.here.update(visitor.id for visitor in self.visitors)

    def look(self, pool: Pool) -> None:
        self.pids.update(worker.pid for worker in pool.health().training)
        self.suspended.update(run.id for run in self.runs if run.checkpointed)

    def found(self) -> tuple[dict[str, float], list[str]]:
        """Counts, and a sentence for each run that failed for no reason of its own or whose steps are not each there once."""
        ends = Counter(run.state for run in self.runs)
        wrong = [
            f"{run.state} {getattr(run.ending, 'reason', '')} {run.config.flat()}"
            for run in self.runs
            if not explained(run)
        ]
        counts = {
            "seconds": round(self.seconds),
            "runs": len(self.runs),
            "refused": self.refused,
            "suspended": len(self.suspended),
            **ends,
        }
        return {**counts, UNEXPLAINED: len(wrong)}, wrong


def explained(run: Run) -> bool:
    """Whether a run has ended as its config says, with each of its steps once."""
    steps = [event.step for event in run.events if isinstance(event, Progress)]
    if steps != list(range(1, len(steps) + 1)):
        return False
    if isinstance(run.ending, Failed):
        return run.ending.tensor is not None and run.config.learning_rate == TOO_HIGH
    return run.state in ("finished", "stopped")


def measure_soak(notes: Notebook, folder: Path, device: str, seconds: float) -> list[str]:
    """Note the counts; returns what is to be looked at."""
    soak = Soak(random.Random(0), device)
    wrong = list[str]()

    def play() -> dict[str, float]:
        with Pool(Runs(folder), Limits(runs_per_worker=ON_THE_WORKER), 1, here=lambda one: one in soak.here) as pool:
            pool.wait_until_ready(300)
            soak.play(pool, seconds)
            lost = len(soak.pids) - pool.machines.slots
        counts, sentences = soak.found()
        wrong.extend(sentences)
        return {**counts, LOST: lost}

    notes.measure(PART, ROW, UNEXPLAINED, play)
    return wrong
