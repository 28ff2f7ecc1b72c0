"""Slides of results: every word of every issue has room."""

from __future__ import annotations

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.key_figure import EDGE, HEIGHT, WIDTH, Slide, key_figure, slide_figure
from pages.parts.charts.experiments.strip import Ended

LEAST_ROW = 26
"""Pixels that a row needs for its dots."""
LINK = "8 seeds (0 to 7), Attention Lab, https://attention-lab.example.edu/some/course/2026/issues?issue=stacking-does-not-help"


def rows_of(issue: Issue) -> list[Ended]:
    return [
        Ended(row.label, role_color(issue.arm(row.arm).role), [0.2, 0.3], range(2)) for row in issue.key_figure.rows
    ]


@pytest.mark.parametrize("issue", ISSUES.values(), ids=lambda issue: issue.slug)
def test_title_figure_sentence_and_seeds_stand_under_one_another(issue: Issue) -> None:
    rows, known = rows_of(issue), issue.key_figure
    sentence = f"{known.change} {known.subject} falls from 99,999.9 to 11,111.1 {known.unit}, in 16 of 16 seeds. So far this is undecided."
    drawn = slide_figure(
        key_figure(rows, known.scale, share=False, written=known.written, chance=0.1),
        [row.name for row in rows],
        Slide(issue.title, known.quantity, sentence, LINK),
    )
    margin = drawn.layout.margin
    assert (HEIGHT - margin.t - margin.b) / len(rows) >= LEAST_ROW
    assert (WIDTH - margin.l - margin.r) > 0.4 * WIDTH
    tops = [margin.t - note.yshift for note in drawn.layout.annotations]
    bottoms = [
        top + 1.3 * note.font.size * (1 + note.text.count("<br>"))
        for top, note in zip(tops, drawn.layout.annotations, strict=True)
    ]
    assert bottoms[0] <= tops[1]
    assert bottoms[1] <= margin.t
    assert tops[2] >= HEIGHT - margin.b + 20, "below the axis and its numbers"
    assert bottoms[2] <= tops[3]
    assert bottoms[3] <= HEIGHT
    assert {margin.l + note.xshift for note in drawn.layout.annotations} == {EDGE}
    assert [note.text.replace("<br>", " ") for note in drawn.layout.annotations[2:]] == [sentence, LINK]
    assert len(drawn.data) == len(key_figure(rows, known.scale, share=False).data)


def test_words_are_no_markup() -> None:
    rows = [Ended("a <b> & c", role_color("fault"), [0.2], [0]), Ended("d", role_color("control"), [0.3], [0])]
    words = Slide("Is 1 < 2?", "a & b", "It is <i>so</i>.", "1 seed (0 to 0)")
    drawn = slide_figure(key_figure(rows, "linear", share=True), [row.name for row in rows], words)
    assert [note.text for note in drawn.layout.annotations[:3]] == [
        "<b>Is 1 &lt; 2?</b>", "a &amp; b", "It is &lt;i>so&lt;/i>.",
    ]  # fmt: skip
    assert drawn.layout.yaxis.ticktext[0] == "a &lt;b> &amp; c"
