"""JSON from the disk, and the hash that names a value. Anything wrong with a file's form is a ValueError."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import from_json


def read_json(file: Path) -> Any:
    """Raises OSError, or ValueError if the file holds no value."""
    # the standard library's reader raises RecursionError for what is nested too deeply
    return from_json(file.read_bytes())


def read_table(file: Path) -> dict[str, Any]:
    """Empty if the file cannot be read, or holds something else."""
    with suppress(OSError, ValueError):
        if isinstance(table := read_json(file), dict):
            return table
    return {}


def hash_of(value: object, digits: int) -> str:
    """The first ``digits`` of a JSON value's SHA-256, in hexadecimal. The order of keys does not count; a tuple is a list."""
    text = json.dumps(value, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
