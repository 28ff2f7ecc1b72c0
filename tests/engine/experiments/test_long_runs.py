"""Long runs: the step at which a seed reaches a level, and the rule that tells a limit from a matter of speed."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.long_runs import (
    FLAT,
    TIMES,
    Kind,
    LongRuns,
    is_stored,
    kind_of,
    log_ratio,
    long_config,
    marks,
    numbers_of_long_runs,
    padded,
    read_long_runs,
    rows,
)
from tools.long_runs import write

STEPS = (10, 100, 1000, 10_000, 100_000)


def runs(*curves: Sequence[float], steps: tuple[int, ...] = STEPS) -> LongRuns:
    return LongRuns("arm", "accuracy", 0.01, steps, np.array(curves))


REACHED = (0.1, 0.5, 1.0, 1.0, 1.0)
NEVER = (0.1, 0.2, 0.3, 0.4, 0.4)


@pytest.mark.parametrize(
    ("curve", "step"),
    [
        ((0.1, 0.5, 0.9, 0.95, 1.0), 1000.0),
        ((0.0, 0.4, 1.4, 1.4, 1.4), 100 * 10**0.5),  # half way between two marks on the axis of logarithms
        ((0.95, 0.96, 0.97, 0.98, 0.99), 10.0),  # at the first mark already
        ((0.1, 0.2, 0.3, 0.4, 0.9), 100_000.0),
        (NEVER, math.nan),
        ((0.1, 0.95, 0.5, 0.4, 0.3), math.nan),  # there, and lost again
        ((0.1, 0.9, 0.9, 0.5, 0.5), 100.0),  # one of the last three marks is still at the level
    ],
)
def test_a_seed_is_there_at_the_first_mark_from_which_it_is_not_lost_again(
    curve: tuple[float, ...], step: float
) -> None:
    (found,) = runs(curve).steps_to(0.9)
    assert found == pytest.approx(step, nan_ok=True)
    assert runs(curve).never(0.9) == math.isnan(step)


def test_the_late_rise_is_that_of_the_mean_over_the_second_half_of_the_steps() -> None:
    first, second = (0.0, 0.1, 0.2, 0.3, 0.5), (0.0, 0.1, 0.2, 0.5, 0.9)
    half = math.log10(50_000 / 10_000)  # the share of the last decade that lies before half of the steps
    assert runs(first, second).late_rise == pytest.approx(0.3 * (1 - half))
    assert runs((0.5, 0.9, 0.9, 0.9, 0.8)).late_rise < 0


def rising(by: float) -> tuple[float, ...]:
    """A curve below the level that rises by so much over the second half of its steps."""
    late = by / (1 - math.log10(5))
    return (0.1, 0.2, 0.3, 0.3, 0.3 + late)


@pytest.mark.parametrize(
    ("curves", "kind"),
    [
        ([REACHED] * 16, Kind.SPEED),
        ([REACHED] * 12 + [NEVER] * 4, Kind.SPEED),
        ([REACHED] * 11 + [NEVER] * 5, Kind.OPEN),
        ([REACHED] * 5 + [NEVER] * 11, Kind.OPEN),
        ([REACHED] * 4 + [NEVER] * 12, Kind.LIMIT),
        ([NEVER] * 16, Kind.LIMIT),
        ([rising(1.01 * FLAT)] * 16, Kind.OPEN),
        ([rising(0.99 * FLAT)] * 16, Kind.LIMIT),
        ([(0.1, 0.99, 0.6, 0.5, 0.4)] * 16, Kind.LIMIT),
    ],
)
def test_the_kind_follows_from_the_seeds_that_get_there_and_from_the_end_of_the_mean(
    curves: list[tuple[float, ...]], kind: Kind
) -> None:
    assert kind_of(runs(*curves), 0.9) is kind


def test_in_the_ratio_of_steps_a_seed_that_never_gets_there_counts_as_the_last_step() -> None:
    late, early = (0.1, 0.2, 0.9, 1.0, 1.0), (0.1, 0.9, 1.0, 1.0, 1.0)
    ratio = log_ratio(runs(late, NEVER, early, NEVER), runs(early, early, late, NEVER), 0.9)
    assert np.exp(ratio) == pytest.approx([10, 1000, 0.1, 1])


@pytest.mark.parametrize("steps", [7, 28, 60, 400])
def test_marks_lie_between_a_tenth_and_ten_times_the_steps_ever_further_apart(steps: int) -> None:
    found = marks(steps)
    assert (found[0], found[-1]) == (max(1, round(steps / 10)), TIMES * steps)
    assert list(found) == sorted(set(found))
    gaps = np.diff(np.log([mark for mark in found if mark > 30]))
    assert gaps == pytest.approx(math.log(10) / 12, abs=0.06), "even on the axis of logarithms"


def test_a_curve_that_ended_early_keeps_its_last_number() -> None:
    assert padded([0.5, 0.99], 4) == [0.5, 0.99, 0.99, 0.99]
    assert padded([0.5, 0.6], 2) == [0.5, 0.6]


def test_a_long_run_has_ten_times_the_steps_and_a_rate_that_stays() -> None:
    issue = ISSUES["missing-skips"]
    arm = issue.arm(issue.key_figure.before.arm)
    short, long = issue.config(arm, 1003), long_config(issue, arm, 1003, 0.002)
    assert (long.steps, long.schedule, long.learning_rate) == (TIMES * short.steps, "constant", 0.002)
    assert long == short.replace(steps=long.steps, schedule="constant", learning_rate=0.002)


def test_each_number_of_a_key_figure_has_long_runs_once() -> None:
    assert numbers_of_long_runs(ISSUES["attention-spreads"]) == {
        "one layer": ["accuracy@9", "accuracy@65", "sharpened_accuracy@65"]
    }
    assert numbers_of_long_runs(ISSUES["attention-sinks"]) == {
        "no encoding": ["even_first_weight", "first_token_weight"],
        "no encoding, plus one": ["first_token_weight"],
        "no encoding, gate": ["first_token_weight"],
    }


def test_runs_of_other_settings_are_not_read(tmp_path: Path) -> None:
    issue = ISSUES["missing-mask"]
    kept, changed = issue.key_figure.before.arm, issue.key_figure.after.arm
    row = {"rate": 0.01, "steps": STEPS, "values": {"accuracy": [NEVER, REACHED]}}
    write(issue.slug, kept, {**row, "fingerprint": issue.fingerprint(issue.arm(kept))}, tmp_path)
    write(issue.slug, changed, {**row, "fingerprint": "another"}, tmp_path)
    write(issue.slug, "an arm of before", {**row, "fingerprint": "another"}, tmp_path)
    (found,) = read_long_runs(issue, tmp_path).values()
    assert (found.arm, found.metric, found.steps, found.seeds) == (kept, "accuracy", STEPS, 2)
    assert found.values.tolist() == [list(NEVER), list(REACHED)]
    assert is_stored(issue, kept, ["accuracy"], tmp_path)
    assert not is_stored(issue, kept, ["accuracy", "accuracy@48"], tmp_path)
    assert not is_stored(issue, changed, ["accuracy"], tmp_path)


def test_every_shipped_long_run_has_the_settings_of_today() -> None:
    """Else measure it again: python -m tools.long_runs SLUG."""
    shipped = rows(Path("engine/experiments/evidence"))
    wanted = {slug: numbers_of_long_runs(ISSUES[slug]) for slug in shipped}
    stale = [
        (slug, arm)
        for slug, arms in shipped.items()
        for arm in arms
        if arm not in wanted[slug] or not is_stored(ISSUES[slug], arm, wanted[slug][arm])
    ]
    assert not stale
