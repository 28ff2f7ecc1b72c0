"""The many cases of a test, in a TOML file of its name beside it."""

import tomllib
from pathlib import Path
from typing import Any


def tables_beside(file: str) -> dict[str, Any]:
    return tomllib.loads(Path(file).with_suffix(".toml").read_text("utf-8"))
