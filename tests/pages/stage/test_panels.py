"""An experiment's panels: what they show, what they say, and that nothing is made anew for nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.report import report
from pages.parts.charts.base import to_plain
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.strip import Ended, strip_figure
from pages.parts.stage.arms import differences
from pages.parts.stage.panels import sections, status_words
from pages.parts.stage.shown import Shown, TrialSoFar, remembering
from tests.pages.scripted_experiment import issue_of, trials_of

BLUE = role_color("control")


def shown_of(
    issue: Issue, seeds: int = 8, state: str = "finished", ended: int | None = None, running: Any = ()
) -> Shown:
    trials = trials_of(issue, range(seeds))[:ended]
    return Shown(report(issue, trials, range(seeds), seconds=4.0), state, running)


@pytest.mark.parametrize(("arms", "claims"), [(1, 1), (4, 2), (16, 10)])
@pytest.mark.parametrize("state", ["running", "finished"])
def test_every_size_of_issue_has_its_panels(arms: int, claims: int, state: str) -> None:
    issue = issue_of(arms, claims, lines=arms == 16)
    drawn = sections("loss", shown_of(issue, state=state))
    by_id = {section["id"]: section for section in drawn}
    assert [panel["title"] for panel in by_id["curves"]["panels"]] == [arm.name for arm in issue.arms]
    assert len(by_id["claims"]["panels"]) == claims
    assert len(by_id["ended"]["table"]["rows"]) == arms
    assert [panel["id"] for panel in by_id["ended"]["panels"]] == (
        ["line.accuracy", "strip.accuracy"] if arms == 16 else ["strip.accuracy"]
    )
    ids = [panel["id"] for section in drawn for panel in section["panels"]]
    assert len(set(ids)) == len(ids)
    for section in drawn:
        for panel in section["panels"]:
            assert panel["alt"]
    json.dumps(drawn, allow_nan=False)


def test_panels_before_the_first_trial_are_empty_and_say_so() -> None:
    drawn = sections("loss", shown_of(issue_of(3, 2), state="running", ended=0))
    assert drawn[0]["panels"][0]["words"] == "0 of 8 seeds"
    assert "no seed has ended yet" in drawn[0]["panels"][0]["alt"]
    assert drawn[-1]["panels"][0]["chip"] == "Waiting for seeds"


def test_a_claim_that_nothing_was_measured_for_says_so() -> None:
    panel = sections("loss", shown_of(issue_of(3, 2), state="stopped", ended=1))[-1]["panels"][0]
    assert (panel["chip"], panel["chip_tone"]) == ("Not measured", "")


def test_one_place_makes_no_line() -> None:
    issue = issue_of(2)
    arms = tuple(replace(arm, line="sizes", x=128.0) for arm in issue.arms)
    ended = sections("loss", shown_of(replace(issue, arms=arms)))[1]
    assert [panel["id"] for panel in ended["panels"]] == ["strip.accuracy"]
    assert "line" not in ended["note"]


def test_what_was_stopped_before_a_trial_ended_shows_no_empty_panels() -> None:
    stopped = shown_of(issue_of(3, 2), state="stopped", ended=0)
    assert sections("loss", stopped) == []
    assert status_words(stopped) == "0 of 24 trials: nothing was measured"


def test_arms_that_are_not_trained_have_no_curves() -> None:
    issue = issue_of(2)
    measured = replace(issue.arms[1], settings={**issue.arms[1].settings, "steps": 1})
    some = shown_of(replace(issue, arms=(issue.arms[0], measured)))
    assert [panel["title"] for panel in sections("loss", some)[0]["panels"]] == [issue.arms[0].name]
    assert not shown_of(replace(issue, arms=(measured,), claims=()), state="running").curves


def test_verdicts_are_so_far_while_it_runs() -> None:
    issue = issue_of(4, 1)
    running = sections("loss", shown_of(issue, state="running", ended=12))[-1]["panels"][0]["chip"]
    assert running == "So far: undecided"
    assert sections("loss", shown_of(issue))[-1]["panels"][0]["chip"] == "Holds"


def test_the_status_says_what_goes_or_where_it_waits() -> None:
    issue = issue_of(2)
    going = [TrialSoFar("arm 1", 3, 0.5, {})]
    assert "now “arm 1”, seed 3" in status_words(shown_of(issue, state="running", running=going))
    there = [TrialSoFar("arm 1", seed, 0.5, {}, machine=f"tls://10.0.0.{seed % 3}:{seed}") for seed in range(8)]
    assert "now 8 trials on 3 machines of the cluster" in status_words(shown_of(issue, state="running", running=there))
    one = status_words(shown_of(issue, state="running", running=there[:1]))
    assert "now “arm 1”, seed 0 on 10.0.0.0 of the cluster" in one
    waiting = [TrialSoFar("arm 1", 3, 0.0, {}, queue_place=2)]
    assert "place 2 in the queue" in status_words(shown_of(issue, state="running", running=waiting))
    assert status_words(shown_of(issue)) == "16 of 16 trials · seeds 0 to 7 · 4 s"


def test_arms_whose_trials_give_whole_lines_are_drawn_over_x() -> None:
    issue = issue_of(3)
    arms = tuple(replace(arm, points=((1.0, "accuracy"), (2.0, "loss"))) for arm in issue.arms[:2])
    drawn = sections("loss", shown_of(replace(issue, arms=(*arms, issue.arms[2]))))
    (panel,) = [panel for panel in drawn[1]["panels"] if panel["id"].startswith("points.")]
    bold = [trace for trace in panel["figure"]["data"] if trace["mode"] == "lines+markers"]
    assert [(trace["name"], list(trace["x"])) for trace in bold] == [(arm.name, [1, 2]) for arm in arms]
    assert list(bold[0]["y"])[1] == 0.5


def test_only_what_changed_is_drawn_anew() -> None:
    issue, kept = issue_of(4, 2), dict[str, Any]()
    before = sections("loss", shown_of(issue, state="running", ended=17), remember=remembering(kept))
    after = sections("loss", shown_of(issue, state="running", ended=18), remember=remembering(kept))
    same = [a["figure"] is b["figure"] for a, b in zip(before[0]["panels"], after[0]["panels"], strict=True)]
    assert same == [True, False, True, True]


def test_figures_are_plain_json() -> None:
    figure = strip_figure([Ended("a", BLUE, [0.2], [0])], "accuracy")
    json.dumps(to_plain(figure), allow_nan=False)


def test_two_arms_say_what_differs_between_them_and_not_what_differs_from_a_third() -> None:
    mask, hunger = ISSUES["missing-mask"], ISSUES["data-hunger"]
    assert differences(mask, mask.arm("causal mask"), mask.arm("no mask")) == "Mask fault: None → **Missing**"
    assert differences(mask, mask.arm("no mask"), mask.arm("causal mask")) == "Mask fault: Missing → **None**"
    assert "Nothing" in differences(mask, mask.arm("no mask"), mask.arm("no mask"))
    skips = ISSUES["missing-skips"]
    before, after = (skips.arm(row.arm) for row in skips.key_figure.rows[:2])
    assert differences(skips, before, after) == "Skip connections: on → **off**"
    assert differences(hunger, hunger.arms[0], hunger.arms[1]) != ""
