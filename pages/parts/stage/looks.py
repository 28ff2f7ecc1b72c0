"""Icon and colour of a finding, the same on every page."""

from __future__ import annotations

from typing import Literal

from engine.experiments.statistics import Finding

Color = Literal["gray", "blue", "green", "orange", "red"]
LOOKS: dict[Finding, tuple[str, Color]] = {
    Finding.HOLDS: (":material/check_circle:", "green"),
    Finding.OPPOSITE: (":material/swap_horiz:", "red"),
    Finding.NONE: (":material/drag_handle:", "orange"),
    Finding.UNDECIDED: (":material/help:", "gray"),
}


def badge(finding: Finding, words: str) -> str:
    """The words as a badge in Markdown, with the finding's icon and colour."""
    icon, color = LOOKS[finding]
    return f":{color}-badge[{icon} {words}]"
