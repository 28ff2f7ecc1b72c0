"""The numbers of the benchmark as JSON lines, as Markdown tables, and beside what they should be."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.power import between_marks

MARKS = "<!-- gpu: written by python -m tests.benchmarks.gpu -->\n", "<!-- end of gpu -->\n"


@dataclass(frozen=True)
class Cell:
    """A number, or words in its place, of the table ``part``."""

    part: str
    row: str
    column: str
    value: float | str

    @property
    def shown(self) -> str:
        return self.value.replace("|", "\\|") if isinstance(self.value, str) else f"{self.value:.3g}"


@dataclass(frozen=True)
class Aim:
    """The most that a number may be, or its ratio to the number of the same row in the column ``over``."""

    part: str
    row: str
    column: str
    most: float
    over: str = ""

    def line(self, cells: Iterable[Cell]) -> str:
        """A line of the table of aims; empty where nobody tried to measure it."""
        row = {cell.column: cell.value for cell in cells if (cell.part, cell.row) == (self.part, self.row)}
        if self.column not in row:
            return ""
        value, unit = row[self.column], row.get(self.over, "") if self.over else 1
        known = not isinstance(value, str) and not isinstance(unit, str) and unit > 0
        met = known and value / unit <= self.most
        name = f"{self.row}: {self.column}{f' / {self.over}' if self.over else ''}"
        told = f"{value / unit:.3g}" if known else "not measured"
        return f"| {name} | {self.most:g} | {told} | {'yes' if met else '**no**'} |\n"


def markdown(machine: str, cells: Sequence[Cell], titles: Mapping[str, str], aims: Iterable[Aim] = ()) -> str:
    """The machine, a table for each part, and the aims that were measured."""
    tables = [table(title, [cell for cell in cells if cell.part == part]) for part, title in titles.items()]
    lines = [line for aim in aims if (line := aim.line(cells))]
    reached = [f"| aim | at most | measured | met |\n|---|--:|--:|---|\n{''.join(lines)}"] if lines else []
    return "\n".join([f"{machine}\n", *filter(None, tables), *reached])


def table(title: str, cells: Sequence[Cell]) -> str:
    """Rows and columns in the order in which they first came; empty without cells."""
    rows, columns = dict.fromkeys(cell.row for cell in cells), dict.fromkeys(cell.column for cell in cells)
    shown = {(cell.row, cell.column): cell.shown for cell in cells}
    if not rows:
        return ""
    head = f"| {title} | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}\n"
    return head + "".join(
        f"| {row} | {' | '.join(shown.get((row, column), '') for column in columns)} |\n" for row in rows
    )


class Notebook:
    """The cells so far. Each is written to the file as soon as it is there, so that a run that is cut off has told what it knew."""

    def __init__(self, machine: str, file: Path | None = None) -> None:
        self.machine, self.cells = machine, list[Cell]()
        self._file, self._began = file, time.perf_counter()
        if file is not None:
            file.write_text(json.dumps({"machine": machine}) + "\n", "utf-8")

    def measure(self, part: str, row: str, column: str, what: Callable[[], float | Mapping[str, float | str]]) -> None:
        """Note the number that a function measures, or several with their own columns. Where it raises, the error stands in the cell:
        the rest is measured all the same."""
        try:
            found = what()
        except Exception as error:
            found = {column: f"{type(error).__name__}: {error}".splitlines()[0][:120]}
        for name, value in (found if isinstance(found, Mapping) else {column: found}).items():
            cell = Cell(part, row, name, value)
            self.cells.append(cell)
            print(
                f"{time.perf_counter() - self._began:6.1f} s  {row}: {name} {cell.shown}", file=sys.stderr, flush=True
            )
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(cell)) + "\n")


def read_lines(file: Path) -> tuple[str, list[Cell]]:
    first, *lines = map(json.loads, file.read_text("utf-8").splitlines())
    return first["machine"], [Cell(**line) for line in lines]


def write_into(document: Path, section: str) -> None:
    """Write the section between the two marks of a document. Raises ValueError where it has not both once."""
    document.write_text(between_marks(document.read_text("utf-8"), section, *MARKS), "utf-8")
