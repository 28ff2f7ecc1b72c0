"""Work in a thread of its own, followed on the terminal by a bar until it is over."""

from __future__ import annotations

from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

LOOK_EVERY = 0.2
"""Seconds between two looks."""


class Work(Protocol):
    """What experiments and sweeps have in common."""

    @property
    def done(self) -> float: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    def stop(self) -> None: ...


def follow(work: Work, name: str, *more: ProgressColumn) -> None:
    """Ctrl-C stops the work, waits for its end and goes on up."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"), *more)
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(name, total=1.0)
            while not work.wait(LOOK_EVERY):
                bar.update(task, completed=work.done)
    except KeyboardInterrupt:
        work.stop()
        work.wait()
        raise
