"""The four figures of what depth does to positions, each with its question, its sentence and its source."""

from collections.abc import Sequence
from functools import partial

from engine.analysis.depth.sentences import MEASUREMENTS, across, readings
from pages.parts.boards.panels import Panel
from pages.parts.charts.depth import DepthLine, gradient_figure, heard_figure, memory_figure, tokens_figure

WAITING = "Measuring …"
"""The sentence of a figure of no model yet."""


def depth_panels(
    lines: Sequence[DepthLine], depth: int, norm: str, *, height: int, mark: bool, memory: Sequence[DepthLine] = ()
) -> list[Panel]:
    """What these models say at a depth, the first of them in front; ``mark``: whether the depth is marked on the axes, as on
    the page Depth, which lists the sources itself. ``memory``: the same models at more lengths, for what the last token remembers."""
    sentences = dict.fromkeys(MEASUREMENTS, WAITING)
    if all(line.draws for line in lines):
        found = [{one.name: one.sentence for one in readings(across(line.draws), depth)} for line in lines]
        for said, line in zip(found, memory, strict=False):
            said |= {one.name: one.sentence for one in readings(across(line.draws), depth) if one.name == "first_token"}
        sentences = {
            name: "\n".join(filter(None, (line.called(said[name]) for line, said in zip(lines, found, strict=True))))
            for name in found[0]
        }
    at = depth if mark else None
    figures = {
        "roll_out": partial(heard_figure, lines, depth),
        "token_share": partial(tokens_figure, lines, at),
        "first_token": partial(memory_figure, memory or lines, depth),
        "gradient": partial(gradient_figure, lines, norm, at),
    }
    panels = []
    for name, sentence in sentences.items():
        question, source, _ = MEASUREMENTS[name]
        panels.append(Panel(
            f"depth.{name}", question, figures[name](), f"{question} {sentence}", height, note=sentence,
            below="" if mark else source.partition(",")[0],
        ))  # fmt: skip
    return panels
