"""Five findings once more, one scale up, stored: does the sign of the effect stay in models of width 128?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import stored_rows
from engine.experiments.experiment import Experiment
from engine.experiments.key_figure import KeyFigure
from engine.foundation.formatting import counted

FILE = "scaled.json"
WIDE = {"d_model": 128, "n_heads": 4}
# by issue, the settings of both arms of its question that change
LARGER_MODELS: dict[str, dict[str, int]] = {
    "what-depth-brings": WIDE,  # here and in the next one the number of layers is the question
    "missing-skips": WIDE,
    "encoding-fits-task": WIDE | {"n_layers": 6},
    "longer-sequences": WIDE | {"n_layers": 6},
    "no-encoding": WIDE | {"n_layers": 6},
}
# the steps of a larger model, as a multiple of its arm's: with three times, both arms of encoding-fits-task end at .99
TIMES_STEPS = dict.fromkeys(LARGER_MODELS, 3) | {"encoding-fits-task": 1}
SEEDS = (7000, 7001)
PILOT_SEED = 900
RATES = (1.0, 10**-0.5, 0.1, 10**-1.5)  # the rates that are tried, as multiples of the arm's own best rate


@dataclass(frozen=True)
class LargerModel:
    """The numbers of the two arms of a question, each by seed."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    steps: int

    def sentence(self, figure: KeyFigure, effect: float, smallest: float) -> str:
        """``effect``: that of the shown figure. ``smallest``: the smallest size that counts."""
        before, after = float(np.mean(self.before)), float(np.mean(self.after))
        sign = "the sign is the same" if (after - before) * effect > 0 else "the sign is not the same"
        if abs(after - before) < smallest:
            sign = "there is no difference that counts"
        numbers = f"“{figure.before.label}” {figure.format_value(before)}, “{figure.after.label}” {figure.format_value(after)}"
        wide = f"{counted(len(self.before), 'seed')}, {self.steps:,} steps, width {WIDE['d_model']}"
        return f"In a larger model ({wide}) {sign}: {numbers}."


def read_scaled(experiment: Experiment, folder: Path = FOLDER) -> LargerModel | None:
    """None if the issue was not run, or with other arms than today's."""
    row = rows(folder).get(experiment.slug)
    arms = {arm.name: arm for arm in experiment.arms}
    marks = row["fingerprints"] if row else {}
    if row is None or any(
        name not in arms or experiment.fingerprint(arms[name]) != mark for name, mark in marks.items()
    ):
        return None
    return LargerModel(tuple(row["before"]), tuple(row["after"]), row["steps"])


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    return stored_rows(folder / FILE)
