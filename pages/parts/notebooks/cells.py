"""The cells of a stored Jupyter notebook, with their outputs. A cell of code whose first line is ``# Test: ...`` asserts that sentence."""

from dataclasses import dataclass
from typing import Any, Literal

TESTS = "# Test: "
SETUP, TEST = "setup", "test"  # tags: a cell that lets the notebook run alone; a cell that asserts a sentence
FIGURE = "application/vnd.plotly.v1+json"  # type of an output that is a Plotly figure


@dataclass(frozen=True)
class Cell:
    number: int  # the index in the notebook, from 0
    kind: Literal["markdown", "code"]
    source: str
    text: str = ""  # printed output
    figures: tuple[dict[str, Any], ...] = ()  # data and layout

    @property
    def asserts(self) -> str | None:
        """The sentence that a test cell asserts; None for other cells."""
        first = self.source.partition("\n")[0]
        return first.removeprefix(TESTS) if self.kind == "code" and first.startswith(TESTS) else None


@dataclass(frozen=True)
class NotebookStep:
    """A heading and the cells up to the next heading."""

    number: int  # from 1; 0 is the introduction
    title: str
    cells: tuple[Cell, ...]

    @property
    def code(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == "code")


def read_cells(stored: dict[str, Any]) -> tuple[Cell, ...]:
    """Return the cells without those for setup, from the JSON of an ``.ipynb`` file."""
    cells = [cell for cell in stored["cells"] if SETUP not in cell["metadata"].get("tags", [])]
    return tuple(_cell(number, cell) for number, cell in enumerate(cells))


def _cell(number: int, stored: dict[str, Any]) -> Cell:
    outputs = stored.get("outputs", [])
    results = [output["data"] for output in outputs if "data" in output]
    printed = [output["text"] for output in outputs if output["output_type"] == "stream"]
    printed += [[*data["text/plain"], "\n"] for data in results if FIGURE not in data]
    return Cell(
        number,
        stored["cell_type"],
        "".join(stored["source"]),
        "".join("".join(text) for text in printed),
        tuple(data[FIGURE] for data in results if FIGURE in data),
    )


def steps_of(cells: tuple[Cell, ...]) -> tuple[NotebookStep, ...]:
    """Return the introduction and the numbered steps; a step begins at a text whose first line is a ``## `` heading.

    The heading becomes the step's title and leaves its text.
    """
    steps = list[tuple[str, list[Cell]]]()
    for cell in cells:
        heading, _, rest = cell.source.partition("\n")
        if cell.kind == "markdown" and heading.startswith(("# ", "## ")):
            steps.append((heading.lstrip("# "), [Cell(cell.number, "markdown", rest.strip("\n"))]))
        else:
            steps[-1][1].append(cell)
    return tuple(NotebookStep(number, title, tuple(step_cells)) for number, (title, step_cells) in enumerate(steps))
