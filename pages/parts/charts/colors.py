"""Colours for both themes, except Streamlit's (``.streamlit/config.toml``) and those of encodings.

A figure names each colour as a pair, of which the browser takes that of the active theme. Styles and scripts use
:func:`custom_properties`.
"""

import tomllib
from pathlib import Path
from typing import TypedDict

from plotly.colors import hex_to_rgb

from engine.config.run_config import RunConfig


class Pair(TypedDict):
    light: str
    dark: str


_THEMES = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]


def _of_theme(name: str) -> dict[str, str]:
    return {theme: _THEMES[theme][name] for theme in ("light", "dark")}


SURFACE, INK = _of_theme("secondaryBackgroundColor"), _of_theme("textColor")  # of figures and cards
GREEN, RED = _of_theme("greenColor"), _of_theme("redColor")
MUTED = {"light": "#5A6578", "dark": "#9AA5B8"}
# from dark to light, for parts that every model has
GREYS = (
    Pair(light=INK["light"], dark="#C9D2E0"),
    Pair(light=MUTED["light"], dark="#8B97AB"),
    Pair(light="#98A3B5", dark="#5B677B"),
)
# the hue of attention weights in every figure
ATTENTION = "#2A5BD7"
# the same in the tiles of the model's picture
HEADS = {"light": "#1F4E9E", "dark": "#8AB4F8"}
# Lines and roles. The first four differ also with red-green colour blindness.
BLUE, ORANGE, TEAL, VIOLET, MAGENTA, OCHRE = "#2B6CB0", "#C2570C", "#0B7A6C", "#7A5AE0", "#A8357D", "#8A6A00"
# Streamlit's colours of code, which the page mixes with the ink
CODE = {
    "remark": "#808495", "name": "#00A4D4", "number": "#29B09D", "text": "#09AB3B",
    "operator": "#ED6F13", "keyword": "#1C83E1", "important": "#FF2B2B",
}  # fmt: skip
# The same in both themes: paper and print, a notice over a page, the blank screen of a presenter.
PAPER = {
    "paper": SURFACE["light"], "print": INK["light"], "print-muted": MUTED["light"], "print-line": MUTED["dark"],
    "notice": "#FFE9A8", "notice-line": "#B45309", "blank": "#000000",
}  # fmt: skip
# WCAG 1.4.11 asks for 3 for graphical objects; fine lines on a dark projector need more.
LINE_CONTRAST = {"light": 3.0, "dark": 4.5}

Scale = list[tuple[float, str]]


class ScalePair(TypedDict):
    light: Scale
    dark: Scale


def shade(color: str, tone: float = 0.0) -> Pair:
    """A colour mixed with the ink by ``tone`` in [0, 1], and further until its contrast suffices."""
    return Pair(light=_standing_out(color, tone, "light"), dark=_standing_out(color, tone, "dark"))


def muted() -> Pair:
    return Pair(light=MUTED["light"], dark=MUTED["dark"])


def sequential(color: str) -> ScalePair:
    """A scale from the surface (0) through a colour towards the ink (1), ordered by lightness alone."""

    def scale(theme: str) -> Scale:
        surface, end = SURFACE[theme], mix(color, INK[theme], 0.55)
        return [(0.0, mix(surface, color, 0.04)), (0.6, mix(surface, color, 0.9)), (1.0, end)]

    return ScalePair(light=scale("light"), dark=scale("dark"))


def diverging() -> ScalePair:
    def scale(theme: str) -> Scale:
        zero = mix(SURFACE[theme], INK[theme], 0.03)

        def arm(color: str) -> list[str]:
            return [mix(zero, color, 0.45), color, mix(color, INK[theme], 0.5)]

        colors = [*reversed(arm(BLUE)), zero, *arm(ORANGE)]
        return list(zip((0.0, 0.15, 0.32, 0.5, 0.68, 0.85, 1.0), colors, strict=True))

    return ScalePair(light=scale("light"), dark=scale("dark"))


def mix(first: str, second: str, share: float) -> str:
    """``first`` with ``share`` of ``second``, both ``#rrggbb``."""
    return "#" + "".join(
        f"{round(a + (b - a) * share):02X}" for a, b in zip(hex_to_rgb(first), hex_to_rgb(second), strict=True)
    )


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two colours, 1 to 21."""
    brighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _standing_out(color: str, tone: float, theme: str) -> str:
    while contrast(mixed := mix(color, INK[theme], tone), SURFACE[theme]) < LINE_CONTRAST[theme] and tone < 1.0:
        tone += 0.02
    return mixed


def _luminance(color: str) -> float:
    linear: list[float] = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in hex_to_rgb(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def color_of(config: RunConfig) -> str:
    return config.encoding.color


def custom_properties() -> str:
    pairs = {"surface": SURFACE, "link": _of_theme("linkColor"), "right": GREEN}
    colors = {name: f"light-dark({pair['light']}, {pair['dark']})" for name, pair in pairs.items()}
    colors |= {f"heads-{theme}": color for theme, color in HEADS.items()}
    colors |= {f"code-{name}": color for name, color in CODE.items()}
    colors |= PAPER
    return ":root{" + "".join(f"--color-{name}:{color};" for name, color in colors.items()) + "}"
