"""Experiments as data frames. This module imports pandas, which workers should not load: import it only where a frame is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from engine.experiments.trial import Trial

COLUMNS = ["issue", "arm", "role", "seed", "number", "value"]


def numbers_frame(slug: str, roles: Mapping[str, str], trials: Iterable[Trial]) -> pd.DataFrame:
    """A row for each number of each trial of an issue; ``roles`` are the arms' roles by name."""
    rows = [
        (slug, trial.arm, roles[trial.arm], trial.seed, name, value)
        for trial in trials
        for name, value in trial.numbers.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)
