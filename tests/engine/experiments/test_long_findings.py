"""The finding on a limit or a matter of speed, in every case and in plain words."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import KeyFigure
from engine.experiments.long_findings import (
    SMALLEST_RATIO,
    LastingFinding,
    SpeedFinding,
    lasting_finding_of,
    long_findings,
    shares,
    shipped_long_finding,
    speed_finding_of,
)
from engine.experiments.long_runs import Kind, LongRuns, long_contrasts, numbers_of_long_runs, rows
from tests.pages.scripted_experiment import issue_of
from tools.long_runs import write

FIGURE = issue_of(2).key_figure
STEPS = (10, 31, 100, 310, 1000)
FIRST, SECOND = (0.9, 1, 1, 1, 1), (0.5, 0.9, 1, 1, 1)
LATER, LAST = (0.1, 0.5, 0.9, 1, 1), (0.1, 0.2, 0.3, 0.5, 0.9)
NEVER, RISING = (0.1, 0.2, 0.3, 0.3, 0.3), (0.1, 0.2, 0.3, 0.3, 0.8)
Curves = list[tuple[float, ...]]
INABILITY = ("cannot", "unable", "too hard", "not enough")


def of(before: Curves, after: Curves, means: tuple[float, float] = (0.9, 0.3)) -> SpeedFinding:
    runs = {
        (row.arm, row.metric): LongRuns(row.arm, row.metric, 0.01, STEPS, np.array(curves, dtype=float))
        for row, curves in ((FIGURE.before, before), (FIGURE.after, after))
    }
    found = speed_finding_of((FIGURE.before, FIGURE.after), runs, means, FIGURE.level)
    assert found is not None
    return found


A, B = "“before”", "“after”"


@pytest.mark.parametrize(
    ("before", "after", "kind", "sentence"),
    [
        ([FIRST] * 16, [LATER] * 16, Kind.SPEED,
         f"A matter of speed: 16 of 16 seeds of {B} reach 0.9, after 10 times as many steps as {A}."),
        ([FIRST] * 16, [LATER] * 13 + [NEVER] * 3, Kind.SPEED,
         f"A matter of speed: 13 of 16 seeds of {B} reach 0.9, after at least 15 times as many steps as {A}."),
        ([FIRST] * 14 + [NEVER] * 2, [LAST] * 16, Kind.SPEED,
         f"A matter of speed: 16 of 16 seeds of {B} reach 0.9, after about 56 times as many steps as {A}; of {A} only 14 do."),
        ([NEVER] * 16, [LATER] * 16, Kind.SPEED,
         f"A matter of speed: 16 of 16 seeds of {B} reach 0.9, even after fewer steps than {A} (0.1 times as many); of {A} no seed does."),
        ([LATER] * 16, [LATER] * 16, Kind.SPEED,
         f"A matter of speed: 16 of 16 seeds of {B} reach 0.9, after about as many steps as {A}."),
        ([FIRST, LATER] * 8, [LATER, FIRST] * 8, Kind.SPEED,
         f"A matter of speed: 16 of 16 seeds of {B} reach 0.9, and the seeds do not decide which of the two takes more steps."),
        ([FIRST] * 16, [NEVER] * 16, Kind.LIMIT,
         f"A limit at this size: with ten times the steps no seed of {B} reaches 0.9, and the curve is flat."),
        ([NEVER] * 16, [NEVER] * 14 + [LATER] * 2, Kind.LIMIT,
         f"A limit at this size: with ten times the steps only 2 of 16 seeds of {B} reach 0.9, and the curve is flat; "
         f"of {A} no seed does."),
        ([FIRST] * 16, [RISING] * 16, Kind.OPEN,
         f"Limit or speed stays open: with ten times the steps no seed of {B} reaches 0.9, and the curve still rises."),
        ([FIRST] * 16, [NEVER] * 8 + [LATER] * 8, Kind.OPEN,
         f"Limit or speed stays open: with ten times the steps 8 of 16 seeds of {B} reach 0.9, and the curve is flat."),
    ],
)  # fmt: skip
def test_the_sentence_follows_from_the_seeds(before: Curves, after: Curves, kind: Kind, sentence: str) -> None:
    found = of(before, after)
    assert (found.kind, found.sentence) == (kind, sentence)
    assert "cannot" not in found.sentence


def test_the_worse_row_is_the_less_accurate_one_after_the_readers_steps_whichever_is_faster() -> None:
    assert of([LATER] * 6, [FIRST] * 6, (0.3, 0.9)).worse.row is FIGURE.before
    assert of([LATER] * 6, [FIRST] * 6, (0.9, 0.3)).worse.row is FIGURE.after
    assert of([LATER] * 6, [FIRST] * 6, (0.5, 0.5)).worse.row is FIGURE.after


def test_the_ratio_is_weighed_as_other_effects_are() -> None:
    found = of([FIRST, SECOND] * 8, [LATER] * 16)
    assert found.ratio.effect == pytest.approx((math.log(10) + math.log(100 / 31)) / 2)
    assert (found.ratio.finding, found.ratio.smallest) == (Finding.HOLDS, SMALLEST_RATIO)
    assert found.worse.median == pytest.approx(100)
    assert of([FIRST] * 4, [LATER] * 4).ratio.finding is Finding.UNDECIDED, "four seeds are too few"


def test_the_median_counts_seeds_that_never_get_there_as_later_than_any() -> None:
    assert of([FIRST] * 5, [LATER, LATER, LAST, NEVER, NEVER]).worse.median == pytest.approx(1000)
    assert of([FIRST] * 4, [LATER, LATER, NEVER, NEVER]).worse.median is None


def test_the_finding_as_plain_data_counts_the_seeds_of_both_rows() -> None:
    plain = json.loads(json.dumps(of([FIRST] * 16, [LATER] * 13 + [NEVER] * 3).to_json(), allow_nan=False))
    assert (plain["kind"], plain["level"], plain["seeds"]) == ("a matter of speed", 0.9, 16)
    assert plain["worse"] | {"median_steps": 0} == {
        "row": "after", "arm": FIGURE.after.arm, "metric": "accuracy", "never": 3, "median_steps": 0,
    }  # fmt: skip
    assert plain["better"]["never"] == 0
    assert plain["log_ratio"]["finding"] == "holds"


def test_shares_count_each_kind() -> None:
    speed, limit = of([FIRST] * 16, [LATER] * 16), of([FIRST] * 16, [NEVER] * 16)
    counted = shares([speed, limit, speed])
    assert counted == "Of 3 contrasts 2 are a matter of speed, 1 is a limit at this size and 0 are open."
    assert shares([]) == ""
    stays = LastingFinding((FIGURE.before, 0.1), (FIGURE.after, 0.9), speed.ratio, FIGURE)
    assert shares([stays]) == "Of 1 contrast in other numbers than accuracy, 1 remains with ten times the steps."


def write_runs(figure: KeyFigure, slug: str, folder: Path, curves: Sequence[Curves]) -> None:
    issue = ISSUES[slug]
    for row, values in zip((figure.before, figure.after), curves, strict=True):
        stored = {"rate": 0.01, "steps": STEPS, "fingerprint": issue.fingerprint(issue.arm(row.arm))}
        write(slug, row.arm, {**stored, "values": {row.metric: values}}, folder)


def test_an_issue_has_a_finding_once_both_rows_have_long_runs(tmp_path: Path) -> None:
    issue = ISSUES["missing-skips"]
    stored = shown_report(issue)
    assert stored is not None
    assert shipped_long_finding(issue, tmp_path) is None, "no evidence at all"
    assert long_findings(issue, stored, tmp_path) == {}
    write_runs(issue.key_figure, issue.slug, tmp_path, ([FIRST] * 16, [NEVER] * 16))
    found = long_findings(issue, stored, tmp_path)[issue.key_figure.claim]
    assert isinstance(found, SpeedFinding)
    assert (found.kind, found.worse.row) == (Kind.LIMIT, issue.key_figure.after)
    del rows(tmp_path)[issue.slug][issue.key_figure.before.arm]
    assert long_findings(issue, stored, tmp_path) == {}


def test_a_further_claim_has_long_runs_of_its_two_arms() -> None:
    issue = ISSUES["what-depth-brings"]
    contrasts = long_contrasts(issue)
    assert [*contrasts] == [issue.key_figure.claim, *issue.key_figure.long_claims]
    before, after = contrasts["second-hop"]
    assert (before.arm, after.arm) == ("2 hops, 2 layers", "2 hops, 3 layers")
    assert {before.arm, after.arm} <= numbers_of_long_runs(issue).keys()


def test_where_the_rate_is_the_condition_the_limit_is_at_this_rate() -> None:
    speed = shipped_long_finding(ISSUES["warm-up-and-qk-norm"])
    assert isinstance(speed, SpeedFinding)
    assert speed.kind is Kind.LIMIT
    assert speed.sentence.startswith("A limit at this size and rate: ")


def test_what_is_a_matter_of_speed_is_never_called_inability() -> None:
    for issue in ISSUES.values():
        found, figure = shipped_long_finding(issue), issue.key_figure
        if isinstance(found, SpeedFinding) and found.kind is Kind.SPEED:
            claim = issue.claim(figure.claim).sentence
            words = (issue.title, issue.summary, figure.question, figure.change, figure.because, claim)
            found_words = [word for text in words for word in INABILITY if word in text.lower()]
            assert not found_words, issue.slug


END = {"high": (0.5, 0.9, 0.9, 0.9, 0.9), "low": (0.1, 0.1, 0.1, 0.1, 0.1), "fallen": (0.9, 0.9, 0.9, 0.9, 0.1)}


@pytest.mark.parametrize(
    ("first", "second", "finding", "sentence"),
    [
        (["low"] * 16, ["high"] * 16, Finding.HOLDS, "the difference is still there: 0.10 and 0.90."),
        (["high"] * 16, ["low"] * 16, Finding.OPPOSITE, "the difference has the opposite sign: 0.90 and 0.10."),
        (["low"] * 16, ["fallen"] * 16, Finding.SMALL, "the difference is gone: 0.10 and 0.10."),
        (["low"] * 16, ["high", "fallen"] * 8, Finding.HOLDS, "the difference is still there: 0.10 and 0.50."),
        (["low", "high"] * 8, ["high", "low"] * 8, Finding.UNDECIDED,
         "the seeds do not decide whether a difference remains: 0.50 and 0.50."),
    ],
)  # fmt: skip
def test_a_claim_on_other_numbers_is_weighed_at_the_end_of_the_long_runs(
    first: Sequence[str], second: Sequence[str], finding: Finding, sentence: str
) -> None:
    claim, contrast = issue_of(2).claims[0], (FIGURE.before, FIGURE.after)
    runs = {
        (row.arm, row.metric): LongRuns(row.arm, row.metric, 0.01, STEPS, np.array([END[name] for name in names]))
        for row, names in zip(contrast, (first, second), strict=True)
    }
    found = lasting_finding_of(claim, contrast, runs, FIGURE)
    assert found is not None
    assert (found.weighed.finding, found.sentence) == (finding, f"With ten times the steps {sentence}")
    assert found.weighed.smallest == claim.smallest_effect
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert plain["difference"]["finding"] == finding
    assert lasting_finding_of(claim, contrast, dict(list(runs.items())[:1]), FIGURE) is None


def test_every_key_figure_with_evidence_has_a_finding_from_long_runs() -> None:
    findings = {slug: shipped_long_finding(issue) for slug, issue in ISSUES.items() if shown_report(issue)}
    assert [slug for slug, found in findings.items() if found is None] == []
    for slug, found in findings.items():
        assert isinstance(found, SpeedFinding) == ("accuracy" in ISSUES[slug].key_figure.before.metric), slug
