from typing import Any
from xml.etree import ElementTree

import pytest

from engine.config.run_config import settings_for
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from pages.parts.charts.colors import LINE_CONTRAST, SURFACE, contrast
from pages.parts.charts.experiments import arms
from pages.parts.charts.experiments.arms import ROLE_COLORS, goes_without_saying, is_spread, role_color
from pages.parts.charts.experiments.stack import stack_svg, touched
from pages.parts.charts.experiments.strip import EndNumbers, effect_figure, effect_height, strip_figure
from pages.parts.experiments.board import escaped
from tests.pages.scripted_experiment import issue_of

BLUE = role_color("control")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_roles_have_colours_of_their_own_that_stand_out_in_both_themes(theme: Any) -> None:
    assert len({role_color(role)[theme] for role in ROLE_COLORS}) == len(ROLE_COLORS)
    for of in (1, 4, 20):
        for role in ROLE_COLORS:
            colors = [role_color(role, index, of)[theme] for index in range(of)]
            assert of > 4 or len({*colors}) == of
            assert all(contrast(color, SURFACE[theme]) >= LINE_CONTRAST[theme] for color in colors)


WORDS = {
    "first_half_accuracy": "first half accuracy", "loss@24": "loss at length 24", "validation.loss": "validation loss",
    "grad.0.q": "gradient norm, layer 1, queries", "grad.7.v": "gradient norm, layer 8, values",
    "grad.e1.total": "gradient norm, encoder layer 2", "grad.embedding": "gradient norm, embedding", "saved_bytes": "saved bytes",
    "position_probe.3": "position probe, 3", "finite": "every step finite (1) or not (0)",
}  # fmt: skip


def test_numbers_are_named_in_words_and_an_axis_says_its_unit_and_ends_at_a_round_number() -> None:
    assert {name: arms.metric_label(name) for name in WORDS} == WORDS
    for name, words in (("gap", "gap (nats)"), ("loss@24", "loss at length 24 (nats)"), ("accuracy", "accuracy")):
        assert arms.with_unit(name) == words
    for value, end in ((2.31, 3), (1.01, 1.5), (100, 100), (0.042, 0.05), (0, 1)):
        assert arms.round_up(value) == pytest.approx(end)


def test_labels_wrap_and_are_no_markup_and_an_axis_is_logarithmic_by_what_it_shows() -> None:
    assert arms.wrapped("one <b> two three", 9) == "one &lt;b><br>two three"
    assert escaped("a*b_[c]|<d>") == "a\\*b\\_\\[c\\]\\|\\<d\\>"
    assert is_spread([0.001, 10])
    assert not is_spread([0.0, 10])
    assert not is_spread([1, 10])
    for label, scale in (("gradient norm", "log"), ("loss (nats)", None)):
        for values in ([1e-22], [1e-22, 1.0]):
            figure = strip_figure([EndNumbers("a", BLUE, values, range(len(values)))], label)
            assert figure.layout.xaxis.type == scale, "the number decides, and not the values that come in"
    narrow = strip_figure([EndNumbers("a", BLUE, [0.42, 3.4], range(2))], "gradient norm")
    assert narrow.layout.xaxis.dtick is None, "one power of ten alone is no axis"


def test_a_strip_has_every_seed_its_mean_and_says_who_is_missing() -> None:
    rows = [
        EndNumbers("a", BLUE, [0.2, None, 0.4], [0, 1, 2], n_without=1),
        EndNumbers("b", BLUE, [None] * 3, [0, 1, 2]),
    ]
    figure = strip_figure(rows, "accuracy", 0.1)
    points, mean, none, no_mean = figure.data
    assert list(points.x) == [0.2, 0.4]
    assert len(set(points.y)) == 2, "equal values stay apart"
    assert list(mean.x) == pytest.approx([0.3, 0.3])
    assert (len(none.x), len(no_mean.x)) == (0, 0)
    assert figure.layout.yaxis.ticktext[0] == "a (1 without)"
    assert figure.layout.shapes[0].label.text == "chance 0.1"
    assert figure.layout.xaxis.range[1] > 1


@pytest.mark.parametrize(("direction", "where"), [("more", 0.2), ("less", -0.2)])
def test_an_effect_has_zero_and_the_smallest_effect_on_the_claimed_side(direction: str, where: float) -> None:
    figure = effect_figure([0.3, None, 0.5], 0.4, (0.1, 0.7), 0.2, direction, "nats")
    seeds, interval, mean = figure.data
    assert [list(trace.x) for trace in (seeds, interval, mean)] == [[0.3, 0.5], [0.1, 0.7], [0.4]]
    zero, smallest, claimed = figure.layout.shapes
    assert (zero.x0, smallest.x0, claimed.x0) == (0, where, where)
    low, high = figure.layout.xaxis.range
    assert low < min(0, where) < max(0.7, where) < high
    assert figure.layout.xaxis.title.text == "nats"


def test_an_unknown_effect_has_its_axis_a_near_zero_no_name_and_a_long_unit_a_second_line() -> None:
    unknown = effect_figure([None], None, None, 0.2, "more", "nats")
    assert all(len(trace.x) == 0 for trace in unknown.data)
    far, near = (effect_figure([value], value, None, 0.2, "more", "nats").layout.shapes for value in (500.0, 0.5))
    assert (far[0].label.text, near[0].label.text) == ("", "0")
    long = "difference of exponents over width (parameters less milliseconds)"
    figure = effect_figure([0.3], 0.3, None, 0.2, "more", long)
    assert figure.layout.xaxis.title.text == "difference of exponents over width<br>(parameters less milliseconds)"
    assert figure.layout.margin.b - unknown.layout.margin.b == effect_height(long) - effect_height("nats") > 0


@pytest.mark.parametrize("issue", [*ISSUES.values(), issue_of(16, 10)], ids=lambda issue: issue.slug)
def test_the_drawing_is_sound_and_names_what_the_arms_change(issue: Issue) -> None:
    drawing = ElementTree.fromstring(stack_svg(issue))
    words = "".join(drawing.itertext()) + drawing.attrib["aria-label"]
    for _, labels in touched(issue).values():
        assert all(label in words for label in labels)


def test_an_optional_setting_that_is_set_is_a_change_worth_saying() -> None:
    rows = {row.name: row for row in settings_for("k_back", "learned")}
    assert not goes_without_saying(rows["grad_clip"], None, 1.0)
    assert goes_without_saying(rows["table_init_std"], None, None)
    assert goes_without_saying(rows["k"], None, rows["k"].default)
    assert not goes_without_saying(rows["k"], None, 1)
