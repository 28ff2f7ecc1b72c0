"""Comparisons of designs on this machine: one JSON file each, under the name that follows from what was compared."""

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
"""The newest comparisons that are kept."""
NAME = re.compile("[0-9a-f]{12}")


def keep(asked: Comparison, experiment: Experiment) -> Path:
    """Write what was found, also before a stop. Raises OSError where the disk does not take it."""
    file = write(_file(asked.name), {**row_of(experiment), "asked": asdict(asked)})
    keep_newest(file.parent, "*.json", MAX_KEPT)
    return file


def find(name: str) -> tuple[Comparison, Evidence] | None:
    """What was compared under this name and what it gave; None where there is none to read."""
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
