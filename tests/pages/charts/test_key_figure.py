import re

import plotly.graph_objects as go
import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import key_finding_in
from engine.experiments.report import report
from engine.experiments.trial import Trial
from pages.parts.charts.colors import muted
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.key_figure import key_figure, thumbnail
from pages.parts.charts.experiments.strip import EndNumbers
from pages.parts.experiments.experiment_snapshot import key_numbers


@pytest.mark.parametrize("issue", ISSUES.values(), ids=lambda issue: issue.slug)
def test_names_take_two_lines(issue: Issue) -> None:
    """A third line would meet the row beside it in the large letters of a room."""
    known = issue.key_figure
    rows = [EndNumbers(row.label, role_color(issue.arm(row.arm).role), [0.2, 0.3], range(2)) for row in known.rows]
    names = key_figure(rows, share=True).layout.yaxis.ticktext
    assert [name.replace("<br>", " ") for name in names] == [row.label for row in known.rows]
    assert max(name.count("<br>") for name in names) <= 1
    assert len(known.because) <= 92, "one line beside the figure"


def numbers(drawn: go.Figure, of: str) -> dict[float, tuple[str, float]]:
    """By the position of each number of a trace: its words, and the position across at which it begins."""
    trace = next(trace for trace in drawn.data if trace.uid == of)
    return {round(y, 6): (text.strip(), x) for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)}


def bars(drawn: go.Figure, stored: str = "") -> dict[float, float]:
    """By the middle of each mean's bar: its position across."""
    found = [trace for trace in drawn.data if trace.uid.startswith(f"{stored}mean-") and trace.x]
    return {round(sum(trace.y) / 2, 6): trace.x[0] for trace in found}


def test_each_number_stands_at_its_own_bar_also_where_stored_seeds_stand_beside_ones_own() -> None:
    color = role_color("control")
    stored = [EndNumbers(f"{name}, stored", muted(), [0.7, 0.78], range(1000, 1002)) for name in ("a", "b")]
    live = [
        EndNumbers("a", color, [0.62, 0.62], [10_000, 10_001]),
        EndNumbers("b", color, [None, None], [10_000, 10_001]),
    ]
    drawn = key_figure(live, share=True, stored=stored)
    live_bars, before = numbers(drawn, "means"), numbers(drawn, "stored-means")
    assert [text for text, _ in live_bars.values()] == ["0.62"], "no number where there is no bar"
    assert [text for text, _ in before.values()] == ["0.74", "0.74"]
    assert live_bars == {y: ("0.62", x) for y, x in bars(drawn).items()}
    assert before.keys() == bars(drawn, "stored-").keys()
    assert len({*live_bars, *before}) == 3, "in one row the two stand one above the other"
    by_name = {trace.uid: trace for trace in drawn.data}
    assert max(by_name["stored-points-0"].y) < min(by_name["points-0"].y)
    assert max(by_name["points-0"].y) < 0.5 < min(by_name["stored-points-1"].y), "and the next row begins below"
    assert {by_name[f"stored-points-{row}"].meta["color"]["light"] for row in (0, 1)} == {muted()["light"]}
    assert len(by_name) == len(drawn.data)
    assert drawn.layout.xaxis.title.text == "grey: stored seeds 1000 to 1001"
    assert key_figure(live, share=True).layout.xaxis.title.text == ""


def test_the_numbers_of_the_compared_rows_are_those_of_the_sentence_also_while_a_seed_has_one_of_them() -> None:
    issue, seeds = ISSUES["missing-skips"], range(10_000, 10_008)
    first, second = issue.key_figure.rows[:2]
    trials = [Trial(first.arm, seed, {"accuracy": 0.8 + 0.02 * n}) for n, seed in enumerate(seeds)]
    trials += [Trial(second.arm, seed, {"accuracy": 0.1 + 0.05 * n}) for n, seed in enumerate(seeds[:3])]
    found = report(issue, trials, seeds)
    finding = key_finding_in(issue.key_figure, found)
    assert finding is not None
    drawn = key_figure(**key_numbers(issue, found))
    (before, _), (after, _) = numbers(drawn, "means").values()
    assert f"from {before} to {after} after 80 steps, in 3 of 3 seeds" in finding.sentence
    assert list(bars(drawn).values()) == pytest.approx([finding.before, finding.after])
    assert len(drawn.data[0].x) == len(seeds), "every seed is a dot"


def test_words_are_no_markup() -> None:
    rows = [
        EndNumbers("a <b> & c", role_color("fault"), [0.2], [0]),
        EndNumbers("d", role_color("control"), [0.3], [0]),
    ]
    drawn = key_figure(rows, share=True)
    assert drawn.layout.yaxis.ticktext[0] == "a &lt;b> &amp; c"


def test_a_thumbnail_has_a_dot_for_each_seed_a_bar_for_each_mean_and_is_veiled_without_words() -> None:
    color = role_color("control")
    rows = [
        EndNumbers("first", color, [0.5, 1.5], (0, 1)),
        EndNumbers("none", color, [None], (0,)),
        EndNumbers("low", color, [-0.1], (0,)),
    ]
    drawn = thumbnail(rows, share=False, words="It falls, from 1 to <0.")
    first, second = re.findall(
        r'<i style="left: (\d+)%"></i><i style="left: (\d+)%"></i><b style="left: (\d+)%">', drawn
    )[0][:2]
    assert 0 < int(first) < int(second) < 100
    assert (drawn.count("<i "), drawn.count("<b "), drawn.count("<div style")) == (3, 2, 3)
    assert 'role="img" aria-label="It falls, from 1 to &lt;0."' in drawn
    veiled = thumbnail(rows, share=False, words="")
    assert (veiled.count("left:"), veiled.count("<div style")) == (0, 3)
    assert "Guess first" in veiled


@pytest.mark.parametrize(("moved", "dash"), [(False, "dot"), (True, "solid")])
def test_the_mark_of_a_guess_is_dotted_until_the_reader_moves_it(moved: bool, dash: str) -> None:
    rows = [EndNumbers(name, role_color("fault"), [], ()) for name in ("before", "after")]
    (mark,) = key_figure(rows, share=True, guess=0.5, moved=moved).layout.shapes
    assert (mark.line.dash, mark.label.text == "your guess") == (dash, moved)
