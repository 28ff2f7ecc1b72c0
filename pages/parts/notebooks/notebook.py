"""The classic exercises as notebooks in ``docs/notebooks``: a table with all of them, and two files for each. The plain Python file is
written by hand; ``python -m tools.notebooks`` runs it and stores the Jupyter notebook with its outputs, which is shown and downloaded.

To add one: write ``docs/notebooks/<name>.py`` in the percent format, add one table to ``notebooks.toml`` there, and run that program.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.foundation.tables import Text, read_tables
from pages.parts.notebooks.cells import Cell, NotebookStep, read_cells, steps_of

FOLDER = Path(__file__).parents[3] / "docs" / "notebooks"  # they are read, never imported


@dataclass(frozen=True)
class Notebook:
    slug: str
    learns: Text  # one sentence
    minutes: int  # reading time
    plays: tuple[str, ...] = ()  # the groups of plays in it

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.slug.replace('-', '_')}.ipynb"

    @property
    def cells(self) -> tuple[Cell, ...]:
        return read_cells(_read(self.file))

    @property
    def steps(self) -> tuple[NotebookStep, ...]:
        return steps_of(self.cells)

    @property
    def title(self) -> str:
        return self.steps[0].title

    @property
    def origin(self) -> str:
        """The version that ran it, and the day."""
        origin = _read(self.file)["metadata"]["attention_lab"]
        return f"version {origin['version']}, {origin['date']}"


@cache
def _read(file: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return stored


NOTEBOOKS = read_tables(FOLDER / "notebooks.toml", Notebook)
