"""Colours for both themes. A figure names each colour as a pair; the browser takes the one of the active theme."""

from typing import TypedDict

from plotly.colors import hex_to_rgb

from engine.config.run_config import RunConfig

SURFACE = {"light": "#FFFFFF", "dark": "#171C26"}
"""The background of figures: ``secondaryBackgroundColor`` of each theme in .streamlit/config.toml."""
INK = {"light": "#1B2330", "dark": "#E6EAF2"}
"""``textColor`` of each theme."""
MUTED = {"light": "#5A6578", "dark": "#9AA5B8"}
NEGATIVE, POSITIVE = "#2B6CB0", "#C2570C"
"""The two ends of the diverging scale."""
LINE_CONTRAST = {"light": 3.0, "dark": 4.5}
"""The least contrast of lines: WCAG 1.4.11 asks for 3 for graphical objects; fine lines on a dark projector need more."""

Scale = list[tuple[float, str]]


class Pair(TypedDict):
    light: str
    dark: str


class ScalePair(TypedDict):
    light: Scale
    dark: Scale


def shade(color: str, tone: float = 0.0) -> Pair:
    """A colour mixed with the ink by ``tone`` in [0, 1], and further until its contrast with the surface suffices."""
    return Pair(light=_standing_out(color, tone, "light"), dark=_standing_out(color, tone, "dark"))


def muted() -> Pair:
    return Pair(light=MUTED["light"], dark=MUTED["dark"])


def sequential(color: str) -> ScalePair:
    """A scale from the surface (0) through a colour towards the ink (1): lightness alone orders the values."""

    def scale(theme: str) -> Scale:
        surface, end = SURFACE[theme], mix(color, INK[theme], 0.55)
        return [(0.0, mix(surface, color, 0.04)), (0.6, mix(surface, color, 0.9)), (1.0, end)]

    return ScalePair(light=scale("light"), dark=scale("dark"))


def diverging() -> ScalePair:
    """A scale with blue below zero, the surface at zero, orange above."""

    def scale(theme: str) -> Scale:
        zero = mix(SURFACE[theme], INK[theme], 0.03)

        def arm(color: str) -> list[str]:
            return [mix(zero, color, 0.45), color, mix(color, INK[theme], 0.5)]

        colors = [*reversed(arm(NEGATIVE)), zero, *arm(POSITIVE)]
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
    """The colour of a run: that of its encoding (``SPEC`` in ``engine/encodings/<name>/__init__.py``)."""
    return config.encoding.color
