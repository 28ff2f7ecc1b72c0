"""Tables a person reads."""

from __future__ import annotations

from rich.table import Table

from engine.events import Memory


def bytes_in_words(count: int | None) -> str:
    """A size in powers of 1024, or that there is no formula for it."""
    if count is None:
        return "measured only"
    size, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "B" else f"{size:,.1f} {units[0]}"


def memory_table(memory: Memory, title: str) -> Table:
    table = Table("part", "size", title=title)
    table.columns[1].justify = "right"
    rows = {
        "parameters": memory.parameters,
        "gradients": memory.gradients,
        "optimizer": memory.optimizer,
        "saved for backward": memory.saved,
        "  of that scores": memory.scores,
        "together": memory.total,
    }
    for name, size in rows.items():
        table.add_row(name, bytes_in_words(size))
    if memory.peak is not None:
        table.add_row("peak of a step", bytes_in_words(memory.peak))
    return table
