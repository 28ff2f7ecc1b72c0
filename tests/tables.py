"""The cases of a test that are many: they stand in a TOML file of the test's own name, beside it."""

import tomllib
from pathlib import Path
from typing import Any


def tables_beside(file: str) -> dict[str, Any]:
    return tomllib.loads(Path(file).with_suffix(".toml").read_text("utf-8"))
