"""Reading JSON that lies on the disk. Whatever is wrong with its form is a ValueError, so that no damaged file raises anything else."""

import json
from pathlib import Path
from typing import Any

DEEPEST = 64
"""Levels of lists and objects within each other, at most. The program writes fewer than ten; from about a thousand on, Python's own
functions raise RecursionError."""


def parse_json(text: str | bytes) -> Any:
    """The value in a text, in UTF-8 where it is bytes. Raises ValueError where it holds none or is nested deeper than :data:`DEEPEST`."""
    try:
        value = json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return value
    raise ValueError(TOO_DEEP)


def read_json(file: Path) -> Any:
    """The value in a file. Raises OSError, or ValueError as :func:`parse_json` does."""
    return parse_json(file.read_bytes())


def _inside(value: object) -> list[Any]:
    """The lists and objects that stand directly in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in inner if isinstance(one, dict | list)]


TOO_DEEP = f"It is nested deeper than {DEEPEST} levels."
