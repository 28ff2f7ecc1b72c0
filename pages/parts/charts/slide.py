"""An issue's result as a slide: its title, the key figure, the sentence under it, and at the bottom the seeds and the link.

A slide is always light, with letters that every machine has: it leaves the app for another program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from pages.parts.charts.arms import wrapped
from pages.parts.charts.base import figure
from pages.parts.charts.colors import INK, MUTED, SURFACE

WIDTH, HEIGHT = 800, 450
SCALE = 2
"""A slide is saved this many times as large, at 1600 x 900 pixels, so that letters and dots of the figure suit a room."""
EDGE = 32
"""The pixels around all that stands on the slide."""
FONT = "Arial, Helvetica, sans-serif"
LETTER = 0.53
"""The width of a letter, as a share of the letters' size."""
LINE = 1.3
"""Plotly's distance of two lines, as a share of the letters' size."""
NAME = 34
"""The most letters in a line of a row's name."""


@dataclass(frozen=True)
class Slide:
    """The words on a slide."""

    title: str
    quantity: str
    """What the figure's axis shows."""
    sentence: str
    foot: str
    """Seeds and link."""


def slide_figure(drawn: go.Figure, names: Sequence[str], words: Slide) -> go.Figure:
    """The key figure with the words around it, half as large as it is saved. ``names``: those of its rows, from the top.

    Every text is broken into lines that fit, and the figure has what height they leave.
    """
    title, quantity = _Text(words.title, 28, INK["light"], bold=True), _Text(words.quantity, 15, MUTED["light"])
    sentence, foot = _Text(words.sentence, 19, INK["light"]), _Text(words.foot, 12, MUTED["light"])
    rows = [wrapped(name, NAME) for name in names]
    layout = drawn.to_plotly_json()["layout"]
    layout.pop("template", None)
    letters = layout["yaxis"]["tickfont"]["size"]
    longest = max(len(line) for row in rows for line in row.split("<br>"))
    left = EDGE + 12 + LETTER * letters * longest
    above = EDGE - 8 + title.height + 6 + quantity.height + (26 if layout.get("shapes") else 10)
    below = LINE * letters + 20 + sentence.height + foot.height + EDGE
    corner = (left, above)
    return figure(
        list(drawn.data),
        **layout
        | {
            "width": WIDTH, "height": HEIGHT, "paper_bgcolor": SURFACE["light"], "font": layout["font"] | {"family": FONT},
            "margin": {"l": left, "r": EDGE, "t": above, "b": below, "autoexpand": False},
            "xaxis": layout["xaxis"] | {"automargin": False},
            "yaxis": layout["yaxis"] | {"automargin": False, "ticktext": rows},
            "shapes": [level | {"line": level["line"] | {"color": MUTED["light"]}} for level in layout.get("shapes", ())],
            "annotations": [
                title.at(EDGE - 8, corner),
                quantity.at(EDGE - 2 + title.height, corner),
                sentence.at(HEIGHT - EDGE - foot.height - sentence.height, corner),
                foot.at(HEIGHT - EDGE + 12 - foot.height, corner),
            ],
        },
    )  # fmt: skip


@dataclass(frozen=True)
class _Text:
    """A text over the whole width of the slide."""

    text: str
    size: int
    color: str
    bold: bool = False

    @property
    def lines(self) -> str:
        wider = 1.1 if self.bold else 1.0
        return wrapped(self.text, int((WIDTH - 2 * EDGE) / (LETTER * wider * self.size)))

    @property
    def height(self) -> float:
        return LINE * self.size * (self.lines.count("<br>") + 1)

    def at(self, top: float, corner: tuple[float, float]) -> dict[str, object]:
        """An annotation whose upper edge is that many pixels under the slide's; ``corner``: the upper left one of the plot."""
        left, above = corner
        return {
            "text": f"<b>{self.lines}</b>" if self.bold else self.lines, "align": "left", "showarrow": False,
            "font": {"size": self.size, "color": self.color}, "borderpad": 0,
            "xref": "paper", "x": 0, "xanchor": "left", "xshift": EDGE - left,
            "yref": "paper", "y": 1, "yanchor": "top", "yshift": above - top,
        }  # fmt: skip
