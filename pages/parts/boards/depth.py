from collections.abc import Sequence
from functools import partial

from engine.analysis.depth.sentences import DEPTH_QUESTIONS, across, depth_sentences
from pages.parts.boards.panels import Panel
from pages.parts.charts.depth import DepthLine, gradient_figure, oversquashing_figure, roll_out_figure, tokens_figure

WAITING = "Measuring …"


def depth_panels(
    lines: Sequence[DepthLine],
    depth: int,
    norm: str,
    *,
    height: int,
    mark: bool,
    oversquashing: Sequence[DepthLine] = (),
) -> list[Panel]:
    """Return the panels of these models at a depth, the first model in front. ``mark``: mark the depth on the axes and
    omit the sources, as on the page Depth. ``oversquashing``: the same models at more lengths, for the memory of the last
    token."""
    sentences = dict.fromkeys(DEPTH_QUESTIONS, WAITING)
    if all(line.draws for line in lines):
        by_line = [{one.name: one.sentence for one in depth_sentences(across(line.draws), depth)} for line in lines]
        for texts, line in zip(by_line, oversquashing, strict=False):
            texts |= {
                one.name: one.sentence
                for one in depth_sentences(across(line.draws), depth)
                if one.name == "first_token"
            }
        sentences = {
            name: "\n".join(filter(None, (line.label_of(of[name]) for line, of in zip(lines, by_line, strict=True))))
            for name in by_line[0]
        }
    at = depth if mark else None
    figures = {
        "roll_out": partial(roll_out_figure, lines, depth),
        "token_share": partial(tokens_figure, lines, at),
        "first_token": partial(oversquashing_figure, oversquashing or lines, depth),
        "gradient": partial(gradient_figure, lines, norm, at),
    }
    panels = []
    for name, sentence in sentences.items():
        question, source, _ = DEPTH_QUESTIONS[name]
        panels.append(Panel(
            f"depth.{name}", question, figures[name](), f"{question} {sentence}", height, note=sentence,
            below="" if mark else source.partition(",")[0],
        ))  # fmt: skip
    return panels
