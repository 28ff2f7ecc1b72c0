"""JSON for files that people compare and keep in a repository: a line for each record."""

import json
from collections.abc import Iterable
from typing import Any


def json_lines(value: object, levels: int) -> str:
    """JSON in which the entries of the ``levels`` outer levels have a line each, and a list or table of plain values is
    one line.

    Numbers are written so that they are read as the same bits. Raises ValueError for one that is not finite.
    """
    match value:
        case dict() if levels and _holds_more(value.values()):
            entries = [f"{json.dumps(name)}: {json_lines(one, levels - 1)}" for name, one in value.items()]
            return "{\n" + ",\n".join(entries) + "\n}"
        case list() if levels and _holds_more(value):
            return "[\n" + ",\n".join(json_lines(one, levels - 1) for one in value) + "\n]"
    return json.dumps(value, allow_nan=False)


def _holds_more(values: Iterable[object]) -> bool:
    return any(isinstance(value, dict | list) for value in values)


def with_digits(value: Any, digits: int) -> Any:
    """The same data, each float rounded to ``digits`` significant digits."""
    match value:
        case dict():
            return {name: with_digits(one, digits) for name, one in value.items()}
        case list():
            return [with_digits(one, digits) for one in value]
        case float():
            return float(f"{value:.{digits}g}")
    return value
