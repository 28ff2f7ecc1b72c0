import json
from dataclasses import replace
from typing import Any

import pytest

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import Claim, difference
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.report import report
from engine.experiments.trial import Trial
from pages.parts.experiments.board import curve_names, differences
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot, TrialSoFar, beside, final_section
from pages.parts.experiments.panels import sections, shows_both, status, status_words, stop_of
from tests.pages.scripted_experiment import issue_of, trials_of


def snapshot_after(
    issue: Issue, seeds: int = 8, state: str = "finished", ended: int | None = None, running: Any = ()
) -> ExperimentSnapshot:
    trials = trials_of(issue, range(seeds))[:ended]
    return ExperimentSnapshot.of(report(issue, trials, range(seeds), seconds=4.0), state, running=running)


def final_panels_at_half(slug: str, state: str = "finished") -> dict[str, Any]:
    """The panels of a real issue if all trials reached .5, by their ids."""
    issue = ISSUES[slug]
    trials = [Trial(arm.name, seed, {arm.metric: 0.5}) for arm in issue.arms_of(state == "shipped") for seed in (0, 1)]
    panels = final_section(ExperimentSnapshot.of(report(issue, trials, range(2)), state))["panels"]
    return {panel["id"]: panel for panel in panels}


def rows(panel: Any) -> list[str]:
    return list(panel["figure"]["layout"]["yaxis"]["ticktext"])


@pytest.mark.parametrize(("arms", "claims"), [(1, 1), (4, 2), (16, 10)])
@pytest.mark.parametrize("state", ["running", "finished"])
def test_every_size_of_issue_has_its_panels(arms: int, claims: int, state: str) -> None:
    issue = issue_of(arms, claims, lines=arms == 16)
    drawn = sections("loss", snapshot_after(issue, state=state))
    by_id = {section["id"]: section for section in drawn}
    assert [panel["title"] for panel in by_id["curves"]["panels"]] == [arm.name for arm in issue.arms]
    assert len(by_id["claims"]["panels"]) == claims
    assert [panel["id"] for panel in by_id["ended"]["panels"]] == (
        ["line.accuracy", "strip.accuracy"] if arms == 16 else ["strip.accuracy"]
    )
    panels = [panel for section in drawn for panel in section["panels"]]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["alt"] for panel in panels)
    json.dumps(drawn, allow_nan=False)


def test_panels_say_what_is_not_measured_or_not_decided_yet() -> None:
    issue = issue_of(3, 2)
    empty = sections("loss", snapshot_after(issue, state="running", ended=0))
    assert empty[0]["panels"][0]["words"] == "0 of 8 seeds"
    assert "no seed has ended yet" in empty[0]["panels"][0]["alt"]
    stopped = snapshot_after(issue, state="stopped", ended=0)
    assert sections("loss", stopped) == []
    assert status_words(stopped) == "0 of 8 seeds: no measurement"
    for state, ended, chip, tone in (
        ("running", 0, "Waiting for seeds", ""),
        ("stopped", 1, "Not measured", ""),
        ("running", 12, "So far: undecided", "undecided"),
        ("finished", None, "Holds", "holds"),
    ):
        panel = sections("loss", snapshot_after(issue, state=state, ended=ended))[-1]["panels"][0]
        assert (panel["chip"], panel["chip_tone"]) == (chip, tone)


def test_the_status_says_what_goes_or_where_it_waits() -> None:
    issue = issue_of(2)
    there = [TrialSoFar("arm 1", seed, 0.5, machine=f"tls://10.0.0.{seed % 3}:{seed}") for seed in range(8)]
    for running, words in (
        ([TrialSoFar("arm 1", 3, 0.5)], "now “arm 1”, seed 3"),
        (there, "now 8 at once on 3 machines of the cluster"),
        (there[:1], "now “arm 1”, seed 0 on 10.0.0.0 of the cluster"),
        ([TrialSoFar("arm 1", 3, 0.0, queue_position=2)], "place 2 in the queue"),
    ):
        assert words in status_words(snapshot_after(issue, state="running", running=running))
    assert status_words(snapshot_after(issue, state="running", ended=5)) == "5 of 16 training runs"
    assert status_words(snapshot_after(issue, state="running", ended=0)) == "", "nothing is known yet"
    masks, running = ISSUES["missing-mask"], [TrialSoFar("no mask", 3, 0.5)]
    snapshot = ExperimentSnapshot.of(report(masks, (), range(8)), "running", running=running)
    assert "now “Without a mask”, seed 3" in status(snapshot, masks.key_figure.name_of)["words"], (
        "as the figure calls it"
    )
    names = [ISSUES["tokens-alike"].key_figure.name_of(arm) for arm in ("no skips", "of no row")]
    assert names == ["no skips", "of no row"], "several rows, and none"
    assert status_words(snapshot_after(issue)) == "8 of 8 seeds (0 to 7) · 4 s"
    assert status_words(snapshot_after(issue, seeds=1)) == "1 of 1 seed (0) · 4 s"
    assert status_words(snapshot_after(issue, state="stopped", ended=5)).startswith("2 of 8 seeds"), (
        "those that all arms have"
    )


def test_only_what_changed_is_drawn_anew() -> None:
    issue = issue_of(4, 2)
    before = sections("loss", snapshot_after(issue, state="running", ended=17))
    after = sections("loss", snapshot_after(issue, state="running", ended=18))
    same = [a["figure"] is b["figure"] for a, b in zip(before[0]["panels"], after[0]["panels"], strict=True)]
    assert same == [True, False, True, True]


# Curves


def test_arms_that_are_not_trained_have_no_curves() -> None:
    issue = issue_of(2)
    measured = replace(issue.arms[1], settings={**issue.arms[1].settings, "steps": 1})
    some = snapshot_after(replace(issue, arms=(issue.arms[0], measured)))
    assert [panel["title"] for panel in sections("loss", some)[0]["panels"]] == [issue.arms[0].name]
    assert not snapshot_after(replace(issue, arms=(measured,), claims=()), state="running").has_curves


def test_both_losses_are_one_choice_and_shown_together_where_the_gap_is_asked_about() -> None:
    for slug, both in (("overfitting-depth", True), ("missing-skips", False)):
        assert shows_both(ISSUES[slug], "loss") is both
        assert ("validation.loss" not in curve_names(ISSUES[slug])) is both
    issue = issue_of(2)
    with_gap = replace(issue, arms=(replace(issue.arms[0], metric="gap"), issue.arms[1]))
    curves = sections("loss", snapshot_after(with_gap, seeds=2))[0]
    for panel in curves["panels"]:
        assert "validation, mean" in [trace["name"] for trace in panel["figure"]["data"]]
    assert "validation dashed" in curves["note"]


def test_trials_say_where_and_why_they_broke_off() -> None:
    exploded = Trial("a", 0, {"failed_step": 12}, {"loss": [(4, 2.0)]}, "Step 12: logits is no longer finite.")
    lost = Trial("a", 1, {}, {"loss": [(4, 2.0), (8, 1.9)]}, "Its worker ended.")
    stopped = stop_of([exploded, lost, Trial("a", 2, {})])
    assert (stopped.steps, stopped.why) == ({0: 12, 1: 8}, "not a finite number; Its worker ended")
    assert stop_of([Trial("a", 2, {})]) is None


# Where the arms ended


def test_a_remedy_stands_beside_the_model_that_it_mends() -> None:
    claim = Claim("less", difference("dropout", "deep", "loss"), "nats", 0.1, sentence="It is less.")
    assert claim.numbers == [("dropout", "loss"), ("deep", "loss")]
    found = shown_report(ISSUES["overfitting-depth"])
    assert found is not None
    remedies = [arm for arm in found.arms if arm.metric == "best_loss"]
    names = [arm.name for arm in beside(found, remedies, "best_loss")]
    assert names == ["6 layers, 256 sequences", "dropout 0.2", "weight decay 1"]
    stored = final_panels_at_half("overfitting-depth", "shipped")["strip.best_loss"]
    assert rows(stored) == ["dropout 0.2", "weight decay 1"], "what stored evidence does not hold makes no empty row"


def test_arms_of_one_line_are_drawn_over_x_and_those_that_share_an_abscissa_or_stand_alone_are_rows() -> None:
    line, strip = final_panels_at_half("shortcuts").values()
    assert {trace["name"] for trace in line["figure"]["data"]} == {"cue", "GRU, cue", "position"}
    named = [name.replace("<br>", " ") for name in rows(strip)]
    assert named[:2] == ["cue right 9 of 10", "cue randomised"]
    assert set(named) >= {"RoPE, position right 9 of 10", "sinusoidal, position right 9 of 10"}
    issue = issue_of(2)
    arms = tuple(replace(arm, line="sizes", x=128.0) for arm in issue.arms)
    ended = sections("loss", snapshot_after(replace(issue, arms=arms)))[1]
    assert [panel["id"] for panel in ended["panels"]] == ["strip.accuracy"], "one place makes no line"
    assert "line" not in ended["note"]


def test_arms_whose_trials_give_whole_lines_are_drawn_over_x() -> None:
    issue = issue_of(3)
    arms = tuple(replace(arm, points=((1.0, "accuracy"), (2.0, "loss"))) for arm in issue.arms[:2])
    drawn = sections("loss", snapshot_after(replace(issue, arms=(*arms, issue.arms[2]))))
    (panel,) = [panel for panel in drawn[1]["panels"] if panel["id"].startswith("points.")]
    bold = [trace for trace in panel["figure"]["data"] if trace["mode"] == "lines+markers"]
    assert [(trace["name"], list(trace["x"])) for trace in bold] == [(arm.name, [1, 2]) for arm in arms]
    assert list(bold[0]["y"])[1] == 0.5


def test_two_arms_say_what_differs_between_them_and_not_what_differs_from_a_third() -> None:
    mask, hunger, skips = ISSUES["missing-mask"], ISSUES["data-hunger"], ISSUES["missing-skips"].untuned()
    assert differences(mask, mask.arm("causal mask"), mask.arm("no mask")) == "Mask fault: None → **Missing**"
    assert differences(mask, mask.arm("no mask"), mask.arm("causal mask")) == "Mask fault: Missing → **None**"
    assert "Nothing" in differences(mask, mask.arm("no mask"), mask.arm("no mask"))
    before, after = (skips.arm(row.arm) for row in skips.key_figure.rows[:2])
    assert differences(skips, before, after) == "Skip connections: on → **off**"
    assert differences(hunger, hunger.arms[0], hunger.arms[1]) != ""
