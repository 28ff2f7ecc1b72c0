import json
from collections.abc import Callable
from dataclasses import replace
from math import log, log10
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.experiments import rates
from engine.experiments.benchmark.criteria import CHOICE
from engine.experiments.evidence.shipped import sets_of_seeds
from engine.experiments.experiment import PILOT_SEEDS, Arm, Claim, Experiment, difference
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.rates import NoScore, RateGrid, first_grids, pilot, read_grids, with_trials, write_grids
from engine.experiments.report import report
from engine.experiments.trial import Trial, numbers_of, read_trial
from engine.training.train import train
from tests.engine.experiments.fake_issue import fake_issue


def measured(
    score: Callable[[float], float | None], given: float = 0.01, metric: str = "accuracy", chance: float | None = None
) -> RateGrid:
    """The whole grid of an arm whose score depends on its rate alone."""
    grid = RateGrid("arm", given, metric, {}, chance)
    for _ in range(2 * rates.FARTHEST):
        grid = replace(grid, scores=grid.scores | {rate: [score(rate)] * len(PILOT_SEEDS) for rate in grid.missing()})
    assert not grid.missing()
    return grid


def test_the_grid_is_five_rates_half_a_decade_apart_and_grows_towards_a_best_one_at_its_end() -> None:
    around = [0.001, 0.0032, 0.01, 0.032, 0.1]
    grid = measured(lambda rate: 1.0 if rate == 0.032 else 0.5)
    assert (sorted(grid.scores), grid.best) == (around, 0.032)
    grid = measured(lambda rate: min(1.0, rate))
    assert (sorted(grid.scores), grid.best, grid.at_grid_edge) == ([*around, 0.32, 1.0], 1.0, True)
    assert rates.best_in_words(grid) == "1 (the last one tried)"
    grid = measured(lambda rate: 1 - rate)
    assert sorted(grid.scores) == around, "the lower ones are no better than that of the arm's settings, within .01"
    grid = measured(lambda rate: 100 * rate, metric="best_loss")
    assert (sorted(grid.scores), grid.best) == ([0.0001, 0.00032, *around], 0.0001), "a lower loss is better"


def test_of_rates_that_are_as_good_the_arms_own_stays_and_one_at_which_a_seed_failed_is_never_chosen() -> None:
    assert measured(lambda rate: 0.99 if rate == 0.01 else 1.0).best == 0.01
    assert measured(lambda rate: None if rate >= 0.01 else 0.3).best == 0.0032
    failed = measured(lambda rate: None)
    assert (failed.best, min(failed.scores)) == (0.01, 0.0001), "a lower rate might have finished"
    assert measured(lambda rate: 0.5 if rate < 0.0005 else None).best == 0.00032
    with pytest.raises(ValueError, match="first_seed is 896; it must not use seeds 900 to 903"):
        fake_issue(first_seed=896, rates={"short": 1.0})
    grid = measured(lambda rate: 0.5)
    scores = [1.0] * (len(PILOT_SEEDS) - 1)
    assert replace(grid, scores={**grid.scores, 0.1: [*scores, None]}).best == 0.01


def test_a_pilot_trains_what_is_missing_on_seeds_that_no_verdict_uses_and_its_numbers_come_back(tmp_path: Path) -> None:
    issue = fake_issue(base={"steps": 9, "learning_rate": 0.001}, rates={"short": 1.0})
    grids = first_grids(issue)
    given = [("short", 0.001, "best_loss"), ("long", 0.001, "best_loss")]
    assert [(grid.arm, grid.arm_rate, grid.metric) for grid in grids] == given, "whatever was chosen before"
    trained = pilot(issue, grids)
    assert list(trained.seed_range) == list(PILOT_SEEDS)
    assert [trained.config(arm).learning_rate for arm in trained.arms] == 2 * [0.0001, 0.00032, 0.001, 0.0032, 0.01]
    losses = [
        {"best_loss": 100 * abs(trained.config(arm).learning_rate - 0.0032), "chance.loss": log(10)}
        for arm in trained.arms
    ]
    outcomes = ["It failed.", *[""] * (len(losses) - 1)]
    ended = list(zip(trained.arms, losses, outcomes, strict=True))
    trials = [Trial(arm.name, seed, loss, failure=failure) for arm, loss, failure in ended for seed in PILOT_SEEDS]
    grids = with_trials(grids, trials)
    assert pilot(issue, grids) is None
    assert grids[0].scores[0.0001] == [None] * len(PILOT_SEEDS)

    write_grids("other", grids, tmp_path)
    write_grids("fake", grids, tmp_path)
    stored = read_grids("fake", tmp_path)
    assert [(grid.arm, grid.arm_rate, grid.metric, grid.best) for grid in stored] == [(*key, 0.0032) for key in given]
    assert [grid.chance for grid in stored] == [2.303, 2.303]
    assert stored[1].scores[0.001] == pytest.approx(grids[1].scores[0.001])
    assert (read_grids("other", tmp_path), read_grids("none", tmp_path)) == (stored, [])
    json.loads((tmp_path / "rates.json").read_text())


def test_where_no_rate_is_better_than_blind_guessing_the_arm_keeps_its_own_and_says_so() -> None:
    given = "0.01 (its own: no rate is better than guessing)"
    lucky = measured(lambda rate: 0.515 if rate == 0.032 else 0.48, chance=0.5)
    assert (lucky.best, lucky.at_grid_edge, rates.best_in_words(lucky)) == (0.01, False, given)
    rising = measured(lambda rate: 0.45 + 0.03 * log10(100 * rate), chance=0.5)
    assert (max(rising.scores), rising.best, rising.at_grid_edge) == (1.0, 0.01, False)
    learned = replace(rising, chance=0.48)
    assert (learned.best, rates.best_in_words(learned)) == (1.0, "1 (the last one tried)")
    unlearned = measured(lambda rate: 2.29 + 0.1 * abs(rate - 0.1), metric="best_loss", chance=2.303)
    assert (unlearned.best, rates.best_in_words(unlearned)) == (0.01, given)
    assert measured(lambda rate: 2.28 + 0.3 * abs(rate - 0.1), metric="best_loss", chance=2.303).best == 0.1
    assert not measured(lambda rate: None, chance=0.5).learns


def test_an_experiment_knows_the_arms_whose_best_rate_is_the_last_one_tried() -> None:
    inside, at_grid_edge = measured(lambda rate: 1.0 if rate == 0.032 else 0.5), measured(lambda rate: min(1.0, rate))
    grids = [replace(inside, arm="short"), replace(at_grid_edge, arm="long")]
    tuned = rates.at_best_rates(fake_issue(), grids)
    assert (tuned.rates, tuned.rates_at_grid_edge) == ({"short": 0.032, "long": 1.0}, {"long"})
    again = rates.at_best_rates(tuned, [replace(inside, arm="long"), replace(at_grid_edge, arm="short")])
    assert again.rates_at_grid_edge == {"short"}
    assert (again.untuned().rates, again.untuned().rates_at_grid_edge) == ({}, frozenset())


def test_a_grid_without_any_score_is_refused() -> None:
    issue = fake_issue(base={"steps": 9, "learning_rate": 0.001})
    grids = first_grids(issue)

    def trials(numbers: dict[str, float], failure: str = "") -> list[Trial]:
        part = pilot(issue, grids)
        return [Trial(arm.name, seed, numbers, failure=failure) for arm in part.arms for seed in PILOT_SEEDS]

    with pytest.raises(NoScore) as refused:
        with_trials(grids, trials({"loss": 1.0, "accuracy": 0.5}))
    assert str(refused.value) == (
        "No learning rate can be chosen for the arm “short” by “best_loss”: its trials have only accuracy, loss."
    )
    grids = with_trials(grids, trials({"finite": 0.0}, "It failed."))
    assert grids[0].missing(), "a lower rate might finish"
    grids = with_trials(grids, trials({"finite": 0.0}, "It failed."))
    with pytest.raises(
        NoScore, match=r"“short” by “best_loss”: none of its trials finished at any of 7 rates\. It failed\."
    ):
        with_trials(grids, trials({"finite": 0.0}, "It failed."))


def test_the_score_is_how_well_an_arm_learns_at_the_trained_length() -> None:
    def score(metric: str, **settings: object) -> str:
        return rates.score_of(Arm("arm", "control", {}, metric), RunConfig().replace(**settings))

    assert score("accuracy@48", task="k_back") == "accuracy"
    assert score("pointing.last", task="k_back") == score("decorrelated_accuracy", task="k_back") == "accuracy"
    assert score("second_half_accuracy@12", task="copy") == "second_half_accuracy"
    assert score("first_half_accuracy", task="reverse") == "second_half_accuracy", "the first half cannot be known"
    assert score("accuracy", task="reverse", family="encoder") == "accuracy"
    for metric in ("loss", "loss@120", "gap", "train_loss", "best_loss", "other_text.flattery"):
        assert score(metric, task="markov") == "best_loss"


EXPERIMENTS: dict[str, Experiment] = {**ISSUES, CHOICE.slug: CHOICE}


@pytest.mark.parametrize("slug", EXPERIMENTS)
def test_every_arm_that_is_tuned_has_a_score_and_that_of_guessing(slug: str) -> None:
    experiment = EXPERIMENTS[slug].untuned()
    grids = {grid.arm: grid for grid in first_grids(experiment, extended=True)}
    kinds = dict[tuple[str, str, str], Arm]()
    for arm in experiment.arms:
        if arm.name in grids:
            config = experiment.config(arm)
            kinds.setdefault((config.task, config.family, grids[arm.name].metric), arm)
    for (*_, score), arm in kinds.items():
        config = experiment.config(arm).replace(steps=1, pretrain_steps=0)
        numbers = numbers_of(list(train(config, record=experiment.record(replace(arm, measurements=())))))
        assert {score, f"chance.{score.removeprefix('best_')}"} <= numbers.keys()


def test_a_pilot_trains_the_extended_arms_that_are_asked_for() -> None:
    issue = ISSUES["encoding-fits-task"]
    extended = {arm.name for arm in issue.arms if arm.extended}
    trained = pilot(issue, [grid for grid in first_grids(issue, extended=True) if grid.arm in extended])
    assert len(trained.arms_of()) == len(trained.arms) == 5 * len(extended)


def test_where_the_rate_is_the_condition_no_grid_is_measured_and_each_arm_is_trained_at_its_rate() -> None:
    arms = (
        Arm("a", "control"),
        Arm("b", "fault", tuned=False),
        Arm("c", "remedy", {"learning_rate": 0.5}),
    )
    issue = fake_issue(base={"learning_rate": 0.01}, arms=arms, claims=(), rates={"a": 0.1})
    assert [issue.config(arm).learning_rate for arm in arms] == [0.1, 0.01, 0.5]
    assert [(grid.arm, grid.arm_rate) for grid in first_grids(issue)] == [("a", 0.01), ("c", 0.5)]


@pytest.mark.thorough
def test_a_comparison_in_which_one_arm_is_far_from_its_best_rate_is_caught() -> None:
    """Two arms that differ only in the rate that somebody gave to one of them."""
    base = {"task": "k_back", "k": 1, "seq_len": 6, "d_model": 16, "n_layers": 1, "pos_encoding": "rope", "steps": 40}
    unfair = Experiment(
        slug="unfair", title="Unfair", base=base | {"schedule": "cosine"},
        arms=(Arm("one", "control", {"learning_rate": 0.03}), Arm("the same", "fault", {"learning_rate": 0.0006})),
        claims=(Claim("worse", difference("the same", "one", "accuracy"), 0.1, "less"),), seeds=6,
    )  # fmt: skip

    def run(experiment: Experiment) -> list[Trial]:
        pairs = [(arm, seed) for arm in experiment.arms for seed in experiment.seed_range]
        events = [[*train(experiment.config(arm, seed), record=experiment.record(arm))] for arm, seed in pairs]
        return [read_trial(arm.name, seed, log) for (arm, seed), log in zip(pairs, events, strict=True)]

    def finding(experiment: Experiment) -> Finding:
        return report(experiment, run(experiment), experiment.seed_range).claims[0].finding

    assert finding(unfair) == "holds", "as it was planted"
    fair = rates.at_best_rates(unfair, rates.measured_grids(unfair, run))
    assert fair.rates["the same"] > 0.005
    assert finding(fair) == "cannot tell", "both are always right"


@pytest.mark.parametrize("slug", ISSUES)
def test_the_shipped_grids_are_of_the_arms_as_they_are_and_each_of_those_is_trained_at_its_choice(slug: str) -> None:
    issue, grids = ISSUES[slug], read_grids(slug)
    empty = {grid.arm: grid for grid in first_grids(issue, extended=True)}
    for grid in grids:
        arm = issue.arm(grid.arm)
        assert rates.is_tuned(arm)
        assert grid.arm_rate == empty[grid.arm].arm_rate, "other settings: measure again"
        assert grid.metric == empty[grid.arm].metric, "another score: measure again"
        assert grid.chance is not None
        assert not grid.missing()
        assert issue.config(arm, 3).learning_rate == grid.best
    assert issue.rates_at_grid_edge == {grid.arm for grid in grids if grid.at_grid_edge}
    for measured in sets_of_seeds() if issue.rates else ():
        stored = measured["issues"].get(slug, {}).get("rates", {})
        shown = {arm.name for arm in issue.arms_of()} & issue.rates.keys() & stored.keys()
        assert {name: stored[name] for name in shown} == {name: issue.rates[name] for name in shown}, "measure it again"
    if grids:
        assert {grid.arm for grid in grids} >= {grid.arm for grid in first_grids(issue)}, "some arms were left out"
