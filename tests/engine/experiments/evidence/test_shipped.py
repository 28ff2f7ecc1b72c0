import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.experiments.benchmark.criteria import CHOICE
from engine.experiments.evidence.shipped import (
    FOLDER,
    is_confirmatory,
    new_arms,
    sets_of_seeds,
    shipped_report,
    shipped_reports,
    shipped_trials,
    shown_report,
    write_set,
)
from engine.experiments.experiment import CONFIRMATORY_SEEDS
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.report import report
from engine.experiments.trial import Trial


def test_every_issue_was_run_on_the_confirmatory_seeds_with_the_claims_and_arms_of_today() -> None:
    (measured,) = (one for one in sets_of_seeds() if is_confirmatory(one["seeds"]))
    for slug, issue in ISSUES.items():
        found = shown_report(issue)
        assert found is not None, slug
        assert {trial.arm for trial in found.trials} == {arm.name for arm in found.arms}, slug
        assert all(row.weighed.seeds == len(CONFIRMATORY_SEEDS) for row in found.claims), slug
        row = measured["issues"][slug]
        assert {arm.name for arm in issue.arms_of(row["extended"])} <= set(row["arms"]), slug


def test_no_effect_that_is_shown_as_too_small_has_a_number_at_a_bound() -> None:
    """With the numbers computed here, and not by the rule that computed the finding."""
    checked = 0
    for issue in ISSUES.values():
        found = shown_report(issue)
        assert found is not None
        for row in (row for row in found.claims if row.finding is Finding.SMALL and not row.claim.computed):
            for arm, metric in row.claim.effect_numbers:
                if "accuracy" in metric:
                    config = issue.config(issue.arm(arm))
                    mean = float(np.nanmean(found.values(arm, metric)))
                    assert 0.02 < mean < 0.98, (issue.slug, row.claim.id, arm)
                    assert abs(mean - config.task_settings.chance(config)) > 0.02, (issue.slug, row.claim.id, arm)
                    checked += 1
    assert checked


def test_every_finding_without_any_spread_is_marked_as_computed() -> None:
    """Apart from numbers that are 0 or 1 with every seed, such as whether a run stays finite: these are measured."""
    for issue in ISSUES.values():
        found = shown_report(issue)
        assert found is not None
        exact = {
            row.claim.id
            for row in found.claims
            if row.weighed.exact and row.finding.decided
            if any(set(found.values(*number)) - {0.0, 1.0} for number in row.claim.effect_numbers)
        }
        computed = {row.claim.id for row in found.claims if row.claim.computed}
        assert exact - computed == set(), issue.slug


def test_words_and_statistics_are_those_of_today_and_numbers_of_other_settings_are_not_shown() -> None:
    issue = ISSUES["heads"]
    first, *others = issue.claims
    changed = replace(first, sentence="Other words.", smallest_effect=99.0)
    other, *_ = shipped_reports(replace(issue, claims=(changed, *others)))
    before, *_ = shipped_reports(issue)
    assert other.claims[0].claim.sentence == "Other words."
    assert other.claims[0].effects == before.claims[0].effects
    assert before.claims[0].finding is not other.claims[0].finding
    arm = issue.arms[0]
    longer = replace(arm, settings={**arm.settings, "steps": 2000})
    known = {trial.arm for trial in shipped_trials(replace(issue, arms=(longer, *issue.arms[1:])))}
    assert {trial.arm for trial in shipped_trials(issue)} - known == {arm.name}


def test_what_is_written_gives_the_same_report_again(tmp_path: Path) -> None:
    before, *_ = shipped_reports(ISSUES["heads"])
    write_set([before], tmp_path)
    (measured,) = sets_of_seeds(tmp_path)
    assert shipped_report(ISSUES["heads"], measured) == replace(before, seconds=round(before.seconds, 2))


def test_the_shipped_confirmatory_file_is_as_it_is_written(tmp_path: Path) -> None:
    """Also to the last bit of each number, with no field that is not written today."""
    (measured,) = (one for one in sets_of_seeds() if is_confirmatory(one["seeds"]))
    found = (shipped_report(issue, measured) for issue in [*ISSUES.values(), CHOICE])
    write_set([report for report in found if report is not None], tmp_path)
    name = f"seeds-{CONFIRMATORY_SEEDS[0]}.json"
    shipped, written = (json.loads((folder / name).read_text("utf-8")) for folder in (FOLDER, tmp_path))
    arms = sum(len(row["arms"]) for row in shipped["issues"].values())
    assert (FOLDER / name).read_text("utf-8").count("\n") < 2 * arms, "a line for each arm, and a few for each issue"
    assert shipped["issues"] == written["issues"]
    assert shipped.keys() == written.keys()


def test_trials_of_another_issue_and_of_later_arms_keep_their_origin() -> None:
    found = shown_report(ISSUES["longer-sequences"])
    assert found is not None
    assert set(found.moved) - {arm.name for arm in found.arms} == {"encoding-through-the-stack"}
    assert found.to_json()["moved"] == found.moved
    for origin in found.moved.values():
        assert origin["code"] != found.provenance["code"]
        assert origin["commit"] != found.provenance["commit"]


def test_the_stored_seconds_are_those_of_the_arms_that_a_class_waits_for(tmp_path: Path) -> None:
    issue, live, slow = ISSUES["what-depth-brings"], "1 hop, 2 layers", "2 hops, 3 layers"
    assert {arm.name for arm in issue.arms if arm.extended} >= {slow}
    trials = [Trial(arm, 0, {"accuracy": 0.5, "seconds": took}) for arm, took in ((live, 3.0), (slow, 1.0))]
    write_set([report(issue, trials, [0], extended=True, seconds=8.0)], tmp_path)
    (measured,) = sets_of_seeds(tmp_path)
    assert measured["issues"][issue.slug]["seconds"] == 6.0


def test_an_arm_that_lacks_a_seed_without_a_reason_is_to_be_measured(tmp_path: Path) -> None:
    issue = replace(ISSUES["heads"], seeds=2, first_seed=5)
    trials = [Trial(arm.name, seed, {arm.metric: 0.5}) for arm in issue.arms for seed in issue.seed_range][:-1]
    write_set([report(issue, trials, list(issue.seed_range))], tmp_path)
    assert new_arms(issue, tmp_path) == issue.arms[-1:]
    failed = Trial(issue.arms[-1].name, 6, {}, failure="NaN")
    write_set([report(issue, [*trials, failed], list(issue.seed_range))], tmp_path)
    assert new_arms(issue, tmp_path) == ()
