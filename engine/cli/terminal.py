import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
from rich.table import Table

from engine.foundation.background import BackgroundTask
from engine.foundation.files import NoDataFolder, data_folder, data_folder_problem
from engine.foundation.formatting import in_bytes
from engine.settings.costs import Memory

POLL_SECONDS = 0.2  # between two updates of the bar
UNLIMITED = 2**16  # columns: longer than any line


class OutputConsole(Console):
    """A console whose reader may leave, as ``head`` does: BrokenPipeError is then raised, as by ``print``."""

    def on_broken_pipe(self) -> None:
        raise


def console() -> Console:
    """A console that cuts and breaks no line in a pipe or a file, whatever its length."""
    return OutputConsole(width=None if sys.stdout.isatty() else UNLIMITED)


def reason_of(error: OSError) -> str:
    """One sentence on the system's refusal; for the data folder, also what to set."""
    if not isinstance(error.filename, str):
        return str(error)
    with suppress(NoDataFolder):
        named, data = Path(error.filename).absolute(), data_folder().absolute()
        if (named.is_relative_to(data) or data.is_relative_to(named)) and (problem := data_folder_problem()):
            return problem
    return f"{error.filename}: {error.strerror}."


def print_json(*rows: object) -> None:
    for row in rows:
        print(json.dumps(row, allow_nan=False), flush=True)


def table(
    title: str, columns: Sequence[str], rows: Iterable[Iterable[str]], *, left: int | None = None, lines: bool = False
) -> Table:
    """``left``: columns aligned to the left, by default all; ``lines``: a line between two rows."""
    result = Table(*columns, title=title, show_lines=lines)
    for column in result.columns:
        column.overflow = "fold"  # a number that is cut would be another one
    for column in result.columns[left:] if left is not None else ():
        column.justify = "right"
    for row in rows:
        result.add_row(*row)
    return result


def memory_table(memory: Memory, title: str) -> Table:
    sizes = {
        "parameters": memory.parameters,
        "gradients": memory.gradients,
        "optimizer": memory.optimizer,
        "saved for backward": memory.saved,
        "  of that scores": memory.scores,
        "together": memory.total,
        **({"peak of a step": memory.peak} if memory.peak is not None else {}),
    }
    return table(title, ("part", "size"), ((name, in_bytes(size)) for name, size in sizes.items()), left=1)


def follow(work: BackgroundTask, name: str, *more: ProgressColumn) -> None:
    """Show a bar until the task ends. Ctrl-C stops the task, waits for its end and is raised again."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"), *more)
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(name, total=1.0)
            while not work.wait(POLL_SECONDS):
                bar.update(task, completed=work.share_done)
    except KeyboardInterrupt:
        work.stop()
        work.wait()
        raise
