"""Content as data: a TOML file with one table for each thing, by its name."""

import tomllib
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ConfigDict, TypeAdapter

Row = TypeVar("Row")


def one_line(text: str) -> str:
    return " ".join(text.split())


Text = Annotated[str, AfterValidator(one_line)]  # may stand on several lines of the file


def read_tables(path: Path, row: type[Row]) -> dict[str, Row]:
    """The tables of a file as values of a dataclass whose field ``slug`` is the table's name. Raises ValueError
    with the table and the field that is missing, unknown, or of another kind."""
    tables = tomllib.loads(path.read_text("utf-8"))
    adapter = TypeAdapter(dict[str, row], config=ConfigDict(extra="forbid"))  # type: ignore[valid-type]
    return adapter.validate_python({slug: {"slug": slug, **table} for slug, table in tables.items()})
