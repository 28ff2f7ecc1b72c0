"""The groups, order and wording of the encodings for the chosen needs. All findings are computed from the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.analysis.encoding_jobs import Timing
from engine.encodings import ENCODINGS
from engine.experiments.choice import PROPERTIES, Cell

Group = Literal["supported", "open", "against"]
GROUPS: dict[Group, tuple[str, str]] = {
    "supported": ("The evidence supports", ":material/check_circle:"),
    "open": ("Not all of it is known", ":material/help:"),
    "against": ("The evidence is against", ":material/cancel:"),
}
AGAINST = ("against", "no row")


@dataclass(frozen=True)
class Row:
    """An encoding with its cells, in the order of the properties."""

    encoding: str
    cells: tuple[Cell, ...]
    parameters: int | None
    flops: float | None
    """The added FLOPs as a share of the model's; None where the encoding does not go with this model."""
    timing: Timing | None
    """The time of a forward pass relative to no encoding; None where it was not measured on this machine."""

    def cell(self, quality: str) -> Cell | None:
        return next((cell for cell in self.cells if cell["quality"] == quality), None)


def group_of(row: Row, needs: Sequence[str]) -> Group:
    states = [cell["state"] for need in needs if (cell := row.cell(need)) is not None]
    if any(state in AGAINST for state in states):
        return "against"
    return "supported" if all(state == "supported" for state in states) else "open"


def grouped(rows: Sequence[Row], needs: Sequence[str]) -> dict[Group, list[Row]]:
    """The rows by group; in each the fewest parameters or the least time first, if needed, then the highest lowest cell."""

    def rank(row: Row) -> tuple[float, ...]:
        costs = []
        if "parameters" in needs:
            costs.append(float("inf") if row.parameters is None else float(row.parameters))
        if "time" in needs:
            costs.append(row.timing["ratio"] if row.timing else float("inf"))
        known = [cell["value"] for need in needs if (cell := row.cell(need)) is not None and cell["value"] is not None]
        return (*costs, -len(known), -min(known, default=0.0))

    found: dict[Group, list[Row]] = {group: [] for group in GROUPS}
    for row in sorted(rows, key=rank):
        found[group_of(row, needs)].append(row)
    return found


def in_words(row: Row, needs: Sequence[str]) -> str:
    labels = {wanted.name: wanted.label.lower() for wanted in PROPERTIES}
    parts = [f"{labels[need]} {cell_in_words(cell)}" for need in needs if (cell := row.cell(need)) is not None]
    if "parameters" in needs:
        parts.append("does not fit this model" if row.parameters is None else f"{row.parameters:,} extra parameters")
    if "time" in needs:
        if row.flops is not None:
            parts.append(f"{share_in_words(row.flops)} extra FLOPs a token")
        parts.append(f"{row.timing['ratio']:.2f} × the time" if row.timing else "time not measured on this machine")
    return f"**{ENCODINGS[row.encoding].label}**: " + "; ".join(parts)


def share_in_words(share: float) -> str:
    """A share of the model's FLOPs in words."""
    if share and share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share else "0 %"


def cell_in_words(cell: Cell) -> str:
    if cell["state"] == "not measured":
        return "not measured"
    if cell["state"] == "no row":
        return f"cannot be run there ({cell['seeds']} seeds)"
    if cell["state"] == "not learned":
        return f"says nothing: the task was not learned at the trained length ({cell['number_before']:.2f}, {cell['seeds']} seeds)"
    interval = f"{cell['ci'][0]:.2f} to {cell['ci'][1]:.2f}, " if cell["ci"] else ""
    return f"{cell['value']:.2f} ({interval}{cell['seeds']} seed{'s' if cell['seeds'] != 1 else ''})"
