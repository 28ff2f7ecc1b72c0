"""A notebook as a plain Python file: cells in the percent format that editors and Jupytext know.

``# %% [markdown]`` begins a cell of text, whose lines are comments; ``# %%`` begins a cell of code. The lines before the
first mark are the file's own docstring. A cell of code whose first line is ``# Test: ...`` asserts that sentence.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

MARK, TEXT_MARK = "# %%", "# %% [markdown]"
TEST = "# Test: "


@dataclass(frozen=True)
class Cell:
    number: int
    """The index in the notebook, from 0."""
    kind: Literal["markdown", "code"]
    source: str

    @property
    def asserts(self) -> str | None:
        """The sentence that a test cell asserts; None for other cells."""
        first = self.source.partition("\n")[0]
        return first.removeprefix(TEST) if self.kind == "code" and first.startswith(TEST) else None


@dataclass(frozen=True)
class NotebookStep:
    """A heading and the cells up to the next heading: text and code."""

    number: int
    """The number of the step from 1; 0 is the notebook's introduction."""
    title: str
    cells: tuple[Cell, ...]

    @property
    def code(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == "code")


@cache
def read_cells(file: Path) -> tuple[Cell, ...]:
    """The cells of a file. Raises ValueError where it has none, or where a line of text is no comment."""
    cells = list[Cell]()
    for chunk in f"\n{file.read_text('utf-8')}".split(f"\n{MARK}")[1:]:
        mark, _, body = chunk.partition("\n")
        if f"{MARK}{mark}".rstrip() == TEXT_MARK:
            cells.append(Cell(len(cells), "markdown", _uncommented(body, file)))
        else:
            cells.append(Cell(len(cells), "code", body.strip("\n")))
    if not cells:
        raise ValueError(f"{file.name} has no cells; a cell begins with {MARK}.")
    return tuple(cells)


def steps_of(cells: tuple[Cell, ...]) -> tuple[NotebookStep, ...]:
    """The introduction and the numbered steps; a step begins at a text whose first line is a ``## `` heading.

    The heading is the step's title and no longer in its text.
    """
    steps = list[tuple[str, list[Cell]]]()
    for cell in cells:
        heading, _, rest = cell.source.partition("\n")
        if cell.kind == "markdown" and heading.startswith(("# ", "## ")):
            steps.append((heading.lstrip("# "), [Cell(cell.number, "markdown", rest.strip("\n"))]))
        else:
            steps[-1][1].append(cell)
    return tuple(NotebookStep(number, title, tuple(found)) for number, (title, found) in enumerate(steps))


def _uncommented(body: str, file: Path) -> str:
    lines = body.strip("\n").split("\n")
    for line in lines:
        if line and line != "#" and not line.startswith("# "):
            raise ValueError(f"{file.name} has {line!r} in a cell of text; there a line begins with '# '.")
    return "\n".join(line[2:] for line in lines)
