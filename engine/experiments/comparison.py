"""A comparison of a designed encoding with built-in encodings, as an experiment.

The arms of a task differ in the encoding alone; seeds are paired; the measure of better and the smallest effect that counts are
declared here, before anything runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.experiments.experiment import Arm, Claim, Experiment, Values, difference
from engine.experiments.finding import READERS_SEEDS
from engine.experiments.issues.encoding import encoding_fits_task
from engine.foundation.stored_json import hash_of
from engine.foundation.tables import read_tables

DESIGN = "designed"
# that issue's model at one learning rate and 200 steps: on the three tasks a Fourier design, table, sinusoids and RoPE end within
# .11 of the accuracy after 300 steps, in the same order wherever they differ by more than .01 (seed 0)
BASE: dict[str, Any] = {**encoding_fits_task.ISSUE.base, "learning_rate": 0.01, "steps": 200}
SMALLEST_EFFECT = 0.05  # in accuracy
RIVALS = tuple(name for name in ENCODINGS if name != DESIGN)
# the default rivals, one for positions and one for offsets: on two cores a first finding against both takes about a minute
USUAL = ("learned", "rope")
MAX_RIVALS = 5
MATCHED = "Same model, same data, same steps; only the encoding differs."


@dataclass(frozen=True)
class ComparisonTask:
    slug: str
    label: str
    asks: str
    settings: Mapping[str, Any]


TASKS = read_tables(Path(__file__).with_suffix(".toml"), ComparisonTask)


def design_config(design: Mapping[str, Any], **more: Any) -> RunConfig:
    """The config of the design on the comparison's first task. Raises ConfigError if its parts do not fit together."""
    return parse({**BASE, "task": "k_back", "pos_encoding": DESIGN, **design, **more})


def over_the_best(tasks: Sequence[str], rivals: Sequence[str]) -> Callable[[Values], np.ndarray]:
    """The design's mean accuracy over the tasks minus that of the rival with the highest mean over tasks and seeds,
    [seed]."""

    def effect(values: Values) -> np.ndarray:
        def mean(name: str) -> np.ndarray:
            over_tasks: np.ndarray = np.mean([values(arm_name(task, name), "accuracy") for task in tasks], axis=0)
            return over_tasks  # [seed]

        by_rival = np.stack([mean(name) for name in rivals])  # [rival, seed]
        known = np.isfinite(by_rival).all(axis=0)  # the seeds at which every rival has ended
        best = by_rival[np.argmax(by_rival[:, known].mean(axis=1))] if known.any() else np.full(len(known), np.nan)
        difference: np.ndarray = mean(DESIGN) - best
        return difference

    return effect


@dataclass(frozen=True)
class Comparison:
    """Equal comparisons have the same name on every machine."""

    parts: Mapping[str, Any]
    against: tuple[str, ...] = USUAL
    tasks: tuple[str, ...] = tuple(TASKS)
    seeds: int = READERS_SEEDS

    @property
    def name(self) -> str:
        return hash_of(asdict(self), 12)

    @property
    def experiment(self) -> Experiment:
        """Raises ConfigError if parts do not fit together, ValueError for a wrong choice of rivals, tasks or seeds."""
        tasks, rivals = self.tasks, self.against
        _check("against", rivals, RIVALS, MAX_RIVALS)
        _check("tasks", tasks, tuple(TASKS), len(TASKS))
        design_config(self.parts)
        overall = Claim(
            "overall",
            over_the_best(tasks, rivals),
            SMALLEST_EFFECT,
            unit="accuracy",
            condition="the best is the one with the highest mean over all tasks and seeds",
            sentence="Over the tasks together, your design does better than the best of the others.",
        )
        pairs = [
            Claim(
                f"{task}.{name}",
                difference(arm_name(task, DESIGN), arm_name(task, name), "accuracy"),
                SMALLEST_EFFECT,
                unit="accuracy",
                about="condition",
                sentence=f"{TASKS[task].label}: your design does better than {ENCODINGS[name].label}.",
            )
            for task in tasks
            for name in rivals
        ]
        return Experiment(
            slug="design",
            title="Your design",
            base=BASE,
            arms=tuple(_arm(task, name, self.parts) for task in tasks for name in (DESIGN, *rivals)),
            claims=(overall, *pairs),
            seeds=self.seeds,
            matched=MATCHED,
            x_label="Length",
        )


def arm_name(task: str, encoding: str) -> str:
    return f"{TASKS[task].label}: {'your design' if encoding == DESIGN else ENCODINGS[encoding].label}"


def _arm(task: str, encoding: str, parts: Mapping[str, Any]) -> Arm:
    longer = [(float(length), f"accuracy@{length}") for length in TASKS[task].settings.get("test_lengths", ())]
    return Arm(
        arm_name(task, encoding),
        "comparison" if encoding == DESIGN else "control",
        {**TASKS[task].settings, "pos_encoding": encoding, **(parts if encoding == DESIGN else {})},
        points=((float(BASE["seq_len"]), "accuracy"), *longer) if longer else (),
    )


def _check(name: str, names: Sequence[str], allowed: Sequence[str], most: int) -> None:
    unknown = [one for one in names if one not in allowed]
    if unknown or not 1 <= len(names) <= most or len(set(names)) < len(names):
        words = ",".join(names) or "empty"
        raise ValueError(f"{name} is {words}; it must name 1 to {most} different ones of {', '.join(allowed)}.")
