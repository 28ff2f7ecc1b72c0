import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.foundation.json_lines import json_lines
from engine.foundation.once import once


@once
def stored_rows(file: Path) -> dict[str, Any]:
    """By issue; empty if there is no file."""
    rows: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return rows


def store_rows(file: Path, rows: Mapping[str, Any], levels: int) -> None:
    """``levels``: see :func:`engine.foundation.json_lines.json_lines`."""
    file.write_text(json_lines(rows, levels) + "\n", encoding="utf-8")
    stored_rows.cache_clear()
