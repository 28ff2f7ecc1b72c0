"""The classic exercises as notebooks, one plain Python file each, which is shown, run and downloaded.

To add one: write ``docs/notebooks/<name>.py`` in the percent format and add one row here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.notebooks.cells import Cell, Step, read_cells, steps_of

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
"""The notebooks. They are read and run cell by cell, never imported."""


@dataclass(frozen=True)
class Notebook:
    slug: str
    title: str
    learns: str
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
    def steps(self) -> tuple[Step, ...]:
        return steps_of(self.cells)


NOTEBOOKS: dict[str, Notebook] = {
    notebook.slug: notebook
    for notebook in (
        Notebook(
            "mean-pooling", "Order is lost by averaging",
            "Why a table of positions does nothing once the positions are averaged, and what keeps the order.", 5,
        ),
        Notebook(
            "predict-the-position", "Predict the position",
            "How a learned table comes to hold positions, and why the last batch of an epoch misleads.", 6,
        ),
        Notebook(
            "fixed-length", "A table of ten rows",
            "Which shapes are added when a position is, and why a table of fixed length breaks on a longer text.", 4,
        ),
        Notebook(
            "first-principles", "A transformer from first principles",
            "Every part of a transformer, each tested against PyTorch's own; a sequence reversed, and a small language model.", 30,
            ("comedies", "tragedies"),
        ),
    )
}  # fmt: skip
