"""The folder of this program's data."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

DATA_VARIABLE = "ATTENTION_LAB_DATA"


def data_folder() -> Path:
    """The user's data directory of this program, or the directory named in the environment variable ATTENTION_LAB_DATA."""
    given = os.environ.get(DATA_VARIABLE)
    return Path(given) if given else user_data_path("attention-lab", appauthor=False)
