"""The registry of tasks. Torch-free: implementations are imported by workers only.

To add one: write ``engine/tasks/<name>.py`` with a small class, and add one row here.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.settings import Parameters
from engine.tasks import parameters as p

TRANSDUCER = ("decoder", "encoder", "encoder_decoder")
"""A sequence in, a sequence out: continued by a decoder, relabelled in place by an encoder, or translated."""
LABELLER = ("decoder", "encoder")
"""One answer at each position read; a decoder sees the past only."""


@dataclass(frozen=True)
class TaskRow:
    """One task: what it asks, one worked sample in words, and which families can take it."""

    name: str
    label: str
    summary: str
    sample: str
    parameters: type[Parameters]
    families: tuple[str, ...]
    implementation: str
    """``module:Class``; the class is built as ``Class(config)``."""


TASKS: dict[str, TaskRow] = {
    row.name: row
    for row in (
        TaskRow(
            "reverse", "Reverse", "Write the sequence backwards.", "3 1 4 → 4 1 3",
            p.SymbolParameters, TRANSDUCER, "engine.tasks.reverse:Reverse",
        ),
        TaskRow(
            "copy", "Copy", "Write the sequence again.", "3 1 4 → 3 1 4",
            p.SymbolParameters, TRANSDUCER, "engine.tasks.copy:Copy",
        ),
        TaskRow(
            "k_back", "k back", "At each position, name the symbol k positions earlier.", "k = 1: 3 1 4 → · 3 1",
            p.KBackParameters, LABELLER, "engine.tasks.k_back:KBack",
        ),
        TaskRow(
            "sort", "Sort", "Write the symbols in ascending order.", "3 1 4 → 1 3 4",
            p.SymbolParameters, TRANSDUCER, "engine.tasks.sort:Sort",
        ),
        TaskRow(
            "first_token", "First token", "At each position, name the first symbol of the sequence.", "3 1 4 → · 3 3",
            p.SymbolParameters, LABELLER, "engine.tasks.first_token:FirstToken",
        ),
        TaskRow(
            "own_position", "Own position", "At each position, name the position; the symbols do not help.",
            "3 1 4 → 0 1 2", p.OwnPositionParameters, LABELLER, "engine.tasks.own_position:OwnPosition",
        ),
    )
}
