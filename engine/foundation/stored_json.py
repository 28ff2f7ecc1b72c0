"""Reading JSON that lies on the disk. Whatever is wrong with its form is a ValueError, so that no damaged file raises anything else: the
standard library's reader raises RecursionError for what is nested too deeply."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import from_json


def read_json(file: Path) -> Any:
    """The value in a file. Raises OSError, or ValueError where it holds none."""
    return from_json(file.read_bytes())


def read_table(file: Path) -> dict[str, Any]:
    """The table in a file; empty where it cannot be read, or holds something else."""
    with suppress(OSError, ValueError):
        if isinstance(table := read_json(file), dict):
            return table
    return {}
