"""Content as data: a TOML file with one table for each thing, by its name. Whoever writes a text needs no Python."""

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, TypeAdapter

Text = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]
"""Words that may stand on several lines of the file."""
Row = TypeVar("Row")


def read_tables(path: Path, row: type[Row]) -> dict[str, Row]:
    """The tables of a file as values of a dataclass whose field ``slug`` is the table's name. Raises ValueError with the table and
    the field where one is missing, unknown, or of another kind."""
    tables = tomllib.loads(path.read_text("utf-8"))
    known = {field.name for field in fields(row)}  # type: ignore[arg-type]
    for slug, table in tables.items():
        if unknown := table.keys() - known:
            raise ValueError(
                f"{path.name}: [{slug}] has {', '.join(sorted(unknown))}; allowed are {', '.join(sorted(known))}."
            )
    adapter = TypeAdapter(dict[str, row])  # type: ignore[valid-type]
    return adapter.validate_python({slug: {"slug": slug, **table} for slug, table in tables.items()})
