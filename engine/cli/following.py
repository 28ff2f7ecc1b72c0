"""BackgroundTask in a thread of its own, followed on the terminal by a bar until it is over."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from engine.foundation.background import BackgroundTask

POLL_SECONDS = 0.2
"""Seconds between two looks."""


def follow(work: BackgroundTask, name: str, *more: ProgressColumn) -> None:
    """Ctrl-C stops the work, waits for its end and goes on up."""
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
