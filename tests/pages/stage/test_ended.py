"""Where the arms ended: remedies beside what they mend, arms of one abscissa apart, and how panels of curves are chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.experiments.experiment import Claim, difference
from engine.experiments.issues import ISSUES
from engine.experiments.report import report
from engine.experiments.trial import Trial
from pages.parts.stage.board import curve_names
from pages.parts.stage.ended import beside, ended_section
from pages.parts.stage.panels import sections, shows_both, stopped_of
from pages.parts.stage.shown import Shown, make
from tests.pages.scripted_experiment import issue_of, trials_of


def test_a_claim_tells_which_arms_it_compares_by_which_number() -> None:
    claim = Claim("less", difference("dropout", "deep", "loss"), "nats", 0.1, sentence="It is less.")
    assert claim.numbers == [("dropout", "loss"), ("deep", "loss")]


def test_a_remedy_stands_beside_the_model_that_it_mends() -> None:
    issue = ISSUES["overfitting-depth"]
    remedies = [arm for arm in issue.arms_of() if arm.metric == "loss"]
    names = [arm.name for arm in beside(issue, remedies, "loss")]
    assert names == ["6 layers, 128 sequences", "dropout 0.2", "weight decay 1"]


def test_arms_that_share_an_abscissa_are_rows_beside_the_one_they_are_compared_with() -> None:
    issue = ISSUES["position-shortcut"]
    trials = [Trial(arm.name, seed, {arm.metric: 0.5}) for arm in issue.arms_of() for seed in (0, 1)]
    shown = Shown(report(issue, trials, range(2)), "finished")
    line, rows = ended_section(shown, make)["panels"]
    assert [trace["name"] for trace in line["figure"]["data"]] == ["learned", "learned"]
    assert list(rows["figure"]["layout"]["yaxis"]["ticktext"])[:3] == [
        "learned, ρ .9",
        "sinusoidal, ρ .9",
        "RoPE, ρ .9",
    ]


def test_what_stored_evidence_does_not_hold_makes_no_empty_row() -> None:
    issue = ISSUES["overfitting-depth"]
    trials = [Trial(arm.name, seed, {arm.metric: 0.5}) for arm in issue.arms_of() for seed in (0, 1)]
    shown = Shown(report(issue, trials, range(2)), "shipped")
    panels = {panel["id"]: panel for panel in ended_section(shown, make)["panels"]}
    assert list(panels["strip.loss"]["figure"]["layout"]["yaxis"]["ticktext"]) == ["dropout 0.2", "weight decay 1"]


@pytest.mark.parametrize(("slug", "both"), [("overfitting-depth", True), ("missing-skips", False)])
def test_both_losses_are_one_choice_where_the_gap_is_asked_about(slug: str, both: bool) -> None:
    issue = ISSUES[slug]
    assert shows_both(issue, "loss") is both
    assert ("validation.loss" not in curve_names(issue)) is both


def test_panels_of_curves_show_both_losses_where_an_arm_is_told_by_its_gap() -> None:
    issue = issue_of(2)
    with_gap = replace(issue, arms=(replace(issue.arms[0], metric="gap"), issue.arms[1]))
    trials = trials_of(issue, range(2))
    shown = Shown(report(with_gap, trials, range(2)), "finished")
    curves = sections("loss", shown)[0]
    for panel in curves["panels"]:
        assert "validation, mean" in [trace["name"] for trace in panel["figure"]["data"]]
    assert "validation dashed" in curves["note"]


def test_trials_say_where_and_why_they_broke_off() -> None:
    exploded = Trial("a", 0, {"failed_step": 12}, {"loss": [(4, 2.0)]}, "Step 12: logits is no longer finite.")
    lost = Trial("a", 1, {}, {"loss": [(4, 2.0), (8, 1.9)]}, "Its worker ended.")
    stopped = stopped_of([exploded, lost, Trial("a", 2, {})])
    assert stopped is not None
    assert stopped.steps == {0: 12, 1: 8}
    assert stopped.why == "not a finite number; Its worker ended"
    assert stopped_of([Trial("a", 2, {})]) is None
