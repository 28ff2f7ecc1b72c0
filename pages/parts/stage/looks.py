"""Icon and colour of a finding, the same on every page."""

from __future__ import annotations

from typing import Literal

from engine.experiments.finding import Finding

Color = Literal["gray", "blue", "green", "orange", "red"]
LOOKS: dict[Finding, tuple[str, Color]] = {
    "holds": (":material/check_circle:", "green"),
    "opposite": (":material/swap_horiz:", "red"),
    "none": (":material/drag_handle:", "orange"),
    "undecided": (":material/help:", "gray"),
}


def badge(finding: Finding, words: str) -> str:
    """The words as a badge in Markdown, with the finding's icon and colour."""
    icon, color = LOOKS[finding]
    return f":{color}-badge[{icon} {words}]"
