"""The classic exercises as notebooks in ``docs/notebooks``: a table with all of them, and a plain Python file for each, which is shown,
run and downloaded.

To add one: write ``docs/notebooks/<name>.py`` in the percent format and add one table to ``notebooks.toml`` there.
"""

from dataclasses import dataclass
from pathlib import Path

from engine.foundation.tables import Text, read_tables
from engine.notebooks.cells import Cell, NotebookStep, read_cells, steps_of

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
"""The notebooks. They are read and run cell by cell, never imported."""


@dataclass(frozen=True)
class Notebook:
    slug: str
    learns: Text
    """The knowledge gained, in one sentence."""
    minutes: int
    """The time to read and run it."""
    plays: tuple[str, ...] = ()
    """The groups of plays that a download carries; in the app a notebook reads all plays."""

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.slug.replace('-', '_')}.py"

    @property
    def cells(self) -> tuple[Cell, ...]:
        return read_cells(self.file)

    @property
    def steps(self) -> tuple[NotebookStep, ...]:
        return steps_of(self.cells)

    @property
    def title(self) -> str:
        return self.steps[0].title


NOTEBOOKS = read_tables(FOLDER / "notebooks.toml", Notebook)
