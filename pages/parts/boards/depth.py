from collections.abc import Sequence
from functools import partial

from engine.analysis.depth.sentences import DEPTH_QUESTIONS, DepthSentence, across, depth_sentences
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
    sentences = dict.fromkeys(DEPTH_QUESTIONS, (WAITING, WAITING))
    if all(line.draws for line in lines):
        by_line = [_by_name(line, depth) for line in lines]
        for of, line in zip(by_line, oversquashing, strict=False):
            of |= {name: one for name, one in _by_name(line, depth).items() if name == "first_token"}
        sentences = {name: _of_models(lines, [of[name] for of in by_line]) for name in by_line[0]}
    at = depth if mark else None
    figures = {
        "roll_out": partial(roll_out_figure, lines, depth),
        "token_share": partial(tokens_figure, lines, at),
        "first_token": partial(oversquashing_figure, oversquashing or lines, depth),
        "gradient": partial(gradient_figure, lines, norm, at),
    }
    panels = []
    for name, (sentence, note) in sentences.items():
        question, source, _ = DEPTH_QUESTIONS[name]
        panels.append(Panel(
            f"depth.{name}", question, figures[name](), f"{question} {sentence}", height, note=note,
            below="" if mark else source.partition(",")[0],
        ))  # fmt: skip
    return panels


def _by_name(line: DepthLine, depth: int) -> dict[str, DepthSentence]:
    return {one.name: one for one in depth_sentences(across(line.draws), depth)}


def _of_models(lines: Sequence[DepthLine], of: Sequence[DepthSentence]) -> tuple[str, str]:
    """The sentences of all models, and the note above their figure: with several models, a few words of each."""
    whole, brief = (
        "\n".join(line.label_of(words) for line, words in zip(lines, texts, strict=True))
        for texts in ([one.sentence for one in of], [one.brief for one in of])
    )
    return whole, whole if len(lines) == 1 else brief
