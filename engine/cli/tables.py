"""Tables for the terminal."""

from __future__ import annotations

from rich.table import Table

from engine.foundation.formatting import in_bytes
from engine.settings.costs import Memory


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
        table.add_row(name, in_bytes(size))
    if memory.peak is not None:
        table.add_row("peak of a step", in_bytes(memory.peak))
    return table
