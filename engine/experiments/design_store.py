"""The store of comparisons of designs on this machine: one JSON file each, named by :attr:`Comparison.name`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.experiments.comparison import Comparison
from engine.experiments.experiment import Experiment
from engine.experiments.store import Evidence, evidence_of, folder_of, read, row_of, write
from engine.foundation.files import keep_newest

MAX_KEPT = 200
"""The number of comparisons that are kept, the newest."""
NAME = re.compile("[0-9a-f]{12}")


def keep(asked: Comparison, experiment: Experiment) -> Path:
    """Write a comparison's evidence, also after a stop. Raises OSError where the disk does not take it."""
    file = write(_file(asked.name), {**row_of(experiment), "asked": asdict(asked)})
    keep_newest(file.parent, "*.json", MAX_KEPT)
    return file


def find(name: str) -> tuple[Comparison, Evidence] | None:
    """The comparison of this name and its evidence; None where there is none or it cannot be read."""
    row = read(_file(name)) if NAME.fullmatch(name) else None
    if row is None:
        return None
    try:
        asked = _asked(row["asked"])
        return asked, evidence_of(asked.issue, row)
    except (KeyError, TypeError, ValueError):  # ConfigError is a ValueError
        return None


def _asked(row: Mapping[str, Any]) -> Comparison:
    return Comparison(row["parts"], tuple(row["against"]), tuple(row["tasks"]), row["seeds"])


def _file(name: str) -> Path:
    return folder_of("designs") / f"{name}.json"
