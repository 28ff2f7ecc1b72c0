"""Following a background task on the terminal with a progress bar."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from engine.foundation.background import BackgroundTask

POLL_SECONDS = 0.2
"""Seconds between two updates of the bar."""


def follow(work: BackgroundTask, name: str, *more: ProgressColumn) -> None:
    """Show a bar until the task ends. Ctrl-C stops the task, waits for its end and is raised again."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"), *more)
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(name, total=1.0)
            while not work.wait(POLL_SECONDS):
                bar.update(task, completed=work.done)
    except KeyboardInterrupt:
        work.stop()
        work.wait()
        raise
