import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.experiments import class_seeds as module
from engine.experiments.class_seeds import (
    ClassSeeds,
    class_experiment,
    class_seed,
    class_seeds,
    keep_seed,
    press_seed,
)
from engine.experiments.classroom import (
    IN_USE_SECONDS,
    MAX_CLASSES_OF_VISITOR,
    ProjectorState,
    enter,
    open_class,
    responses,
    show_projector,
)
from engine.experiments.evidence.shipped import sets_of_seeds
from engine.experiments.experiment import LARGEST_SEED, MAX_SEEDS, PILOT_SEEDS
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.report import report
from engine.experiments.trial import Trial
from engine.foundation.errors import NoRoom, Refused
from engine.foundation.visitor import Visitor
from tests.engine.at_once import at_once

TEACHER, ANN, BEN = Visitor("teacher"), Visitor("ann", "10.0.0.1"), Visitor("ben", "10.0.0.1")
MASK = ISSUES["missing-mask"]
ASKS = ProjectorState("missing-mask.5", phase="seeds", round=1)


@pytest.fixture
def code(own_data_folder: Path) -> str:
    code = open_class(TEACHER)
    show_projector(code, TEACHER, ASKS)
    for student in (ANN, BEN):
        enter(code, student)
    return code


def trials_of(issue: Issue, seed: int) -> list[Trial]:
    experiment = class_experiment(issue, seed)
    requested = {*((row.arm, row.metric) for row in issue.key_figure.rows), *experiment.claims[0].numbers}
    return [
        Trial(arm.name, seed, {name: 0.5 for of, name in requested if of == arm.name} | {"seconds": 3.0}, {"loss": [(1, 2.0)]})
        for arm in experiment.arms
    ]  # fmt: skip


def train(code: str, student: Visitor, round: int = 1) -> None:
    press_seed(code, student, 0, round)
    seed = class_seed(code, student, 0, round)
    keep_seed(seed, MASK, trials_of(MASK, seed.seed))


def test_each_phone_has_a_seed_of_its_own_in_each_round_and_each_class_which_no_stored_set_has(code: str) -> None:
    other = open_class(TEACHER)
    seeds = [
        class_seed(of, who, at, round).seed
        for of in (code, other)
        for who in (ANN, BEN)
        for at in (0, 1)
        for round in (1, 2)
    ]
    assert len(set(seeds)) == 16
    stored = {*PILOT_SEEDS, *(seed for measured in sets_of_seeds() for seed in measured["seeds"])}
    assert min(seeds) > 10_000 + MAX_SEEDS, "no reader's setting reaches them"
    assert max(stored) < min(seeds)
    assert max(seeds) <= LARGEST_SEED - MAX_SEEDS
    assert class_seed(code, ANN, 0, 1) == class_seed(code, ANN, 0, 1)


@pytest.mark.parametrize("issue", ISSUES.values(), ids=ISSUES)
def test_a_phone_trains_the_arms_of_the_figure_and_of_the_claim_that_decides_it(issue: Issue) -> None:
    experiment = class_experiment(issue, 5_000_000)
    named = {row.arm for row in issue.key_figure.rows} | {arm for arm, _ in experiment.claims[0].numbers}
    assert {arm.name for arm in experiment.arms} == named
    assert experiment.seed_range == range(5_000_000, 5_000_001)
    assert experiment.slug not in ISSUES, "it is no run of the issue's own page"
    for arm in experiment.arms:
        assert experiment.identity(arm) == issue.identity(issue.arm(arm.name))
    seed = [trial for number in range(7) for trial in trials_of(issue, number)]
    assert report(experiment, seed, range(7)).claims[0].weighed.seeds == 7


def test_a_doubled_press_counts_once_and_two_rounds_count_twice(code: str) -> None:
    assert not class_seed(code, ANN, 0, 1).pressed
    press_seed(code, ANN, 0, 1)
    assert class_seeds(code, 0, 1) == ClassSeeds(0, frozenset(), (), (), frozenset({"ann"})), "it trains"
    train(code, ANN)
    train(code, ANN)
    press_seed(code, ANN, 0, 1)
    seed = class_seed(code, ANN, 0, 1)
    assert (seed.pressed, seed.done) == (True, True), "a press after the end deletes nothing"
    train(code, BEN)
    found = class_seeds(code, 0, 1)
    assert (found.participants, found.this_round, len(found.seeds), len(found.trials)) == (2, {"ann", "ben"}, 2, 8)
    show_projector(code, TEACHER, replace(ASKS, round=2))
    train(code, ANN, round=2)
    found = class_seeds(code, 0, 2)
    assert (found.participants, found.this_round, len(found.seeds)) == (2, {"ann"}, 3)
    assert class_seeds(code, 1, 1) == class_seeds("0123abcd", 0, 1) == ClassSeeds(0, frozenset(), (), ())
    assert responses(code, 0).students == 2, "a seed is no student"


def test_thirty_presses_at_once_make_one_seed(code: str) -> None:
    at_once(lambda _: press_seed(code, ANN, 0, 1))
    train(code, ANN)
    assert len(class_seeds(code, 0, 1).seeds) == 1


def test_a_late_press_is_refused_and_what_trains_meanwhile_still_counts(code: str) -> None:
    press_seed(code, ANN, 0, 1)
    for state in (replace(ASKS, phase="told"), replace(ASKS, at=1), replace(ASKS, round=2), ProjectorState()):
        show_projector(code, TEACHER, state)
        with pytest.raises(Refused, match=r"The next step has begun\."):
            press_seed(code, BEN, 0, 1)
    seed = class_seed(code, ANN, 0, 1)
    keep_seed(seed, MASK, trials_of(MASK, seed.seed))
    assert class_seeds(code, 0, 1).seeds == (seed.seed,)
    assert not class_seed(code, BEN, 0, 1).pressed


def test_who_is_not_in_the_class_trains_nothing_and_a_phone_only_so_many(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoRoom, match="not in the class"):
        press_seed(code, Visitor("eve"), 0, 1)
    with pytest.raises(NoRoom, match="has ended"):
        press_seed("0123abcd", ANN, 0, 1)
    monkeypatch.setattr(module, "MAX_SEEDS_OF_STUDENT", 2)
    for round in (1, 2):
        show_projector(code, TEACHER, replace(ASKS, round=round))
        press_seed(code, ANN, 0, round)
    show_projector(code, TEACHER, replace(ASKS, round=3))
    with pytest.raises(NoRoom, match=r"has trained 2 seeds, which is the limit\."):
        press_seed(code, ANN, 0, 3)
    press_seed(code, BEN, 0, 3)


def test_only_the_numbers_that_the_figure_needs_are_kept_and_they_go_with_the_class(code: str) -> None:
    train(code, ANN)
    (trial, *_) = class_seeds(code, 0, 1).trials
    assert (trial.curves, "seconds" in trial.numbers, len(trial.numbers) > 0) == ({}, False, True)
    seed = class_seed(code, ANN, 0, 1)
    assert seed.file.stat().st_size < 2000
    long_ago = time.time() - IN_USE_SECONDS - 1
    for _ in range(MAX_CLASSES_OF_VISITOR):
        os.utime(seed.file.parent, (long_ago, long_ago))
        open_class(TEACHER)
    assert not seed.file.exists()
    keep_seed(seed, MASK, trials_of(MASK, seed.seed))
    assert not seed.file.parent.exists(), "a seed that ends later brings no class back"


def test_a_damaged_seed_is_passed_over(code: str) -> None:
    train(code, BEN)
    for number, content in enumerate((b"{", b"[1]", b'[{"arm": 1}]', b"\xff", b"null")):
        class_seed(code, BEN, 0, 1).file.with_name(f"{number}.0.1.seed").write_bytes(content)
    assert class_seeds(code, 0, 1).participants == 1


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ((3,), "1 seed (3)"),
        (range(8), "8 seeds (0 to 7)"),
        ((9, 4), "2 seeds"),
        ((4, 9), "2 seeds"),
        ((4, 2**40), "2 seeds"),
    ],
)
def test_seeds_that_are_no_range_are_told_by_their_number_alone(seeds: Sequence[int], words: str) -> None:
    assert report(MASK, (), seeds).seeds_in_words == words
