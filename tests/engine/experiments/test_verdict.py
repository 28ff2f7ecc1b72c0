"""The verdict on a claim, on made-up numbers: bounds, arms that have not learned, and rates at the end of their grid."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.experiments.bounds import NEAR, bound_at, bounds_of
from engine.experiments.experiment import Arm, Claim, Experiment, difference, within
from engine.experiments.finding import Finding, contradict
from engine.experiments.report import ClaimReport, report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue

HERE, THERE = Arm("here", "control"), Arm("there", "fault")
SEEDS = range(16)
CHANCE = 1 / 10


def judged(
    numbers: Mapping[str, Sequence[float]], smallest: float = 0.05, metric: str = "accuracy", **more: object
) -> ClaimReport:
    """The report on the claim that "there" is below "here" by a metric, of these numbers by arm and seed."""
    claim = Claim("claim", difference("there", "here", metric), smallest, "less", **more)  # type: ignore[arg-type]
    experiment = replace(fake_issue(), arms=(HERE, THERE), claims=(claim,), base={"task": "k_back"})
    trials = [Trial(arm, seed, {metric: value}) for arm, values in numbers.items() for seed, value in enumerate(values)]
    return report(experiment, trials, range(max(map(len, numbers.values())))).claims[0]


@pytest.mark.parametrize("bound", [1.0, 0.0, CHANCE])
@pytest.mark.parametrize("smallest", [0.05, 0.2])
def test_two_arms_at_a_bound_are_never_too_small_to_count(bound: float, smallest: float) -> None:
    random = np.random.default_rng(5)
    for _ in range(100):
        rows = {name: np.clip(bound + random.normal(0, 0.004, 16), 0, 1).tolist() for name in ("here", "there")}
        assert judged(rows, smallest).finding is Finding.CANNOT_TELL
    assert "nothing is left to differ" in judged(rows).weighed.why


@pytest.mark.parametrize("place", [0.3, 0.6, 0.85])
def test_between_the_bounds_a_small_effect_is_too_small_and_a_planted_one_is_found_as_often_as_is_stated(
    place: float,
) -> None:
    random = np.random.default_rng(6)

    def found(effect: float, times: int = 200) -> list[Finding]:
        pairs = ((random.normal(place, 0.012, 16), random.normal(place - effect, 0.012, 16)) for _ in range(times))
        return [judged({"here": here.tolist(), "there": there.tolist()}).finding for here, there in pairs]

    nothing = found(0.0)
    assert set(nothing) <= {Finding.SMALL, Finding.UNDECIDED}
    assert nothing.count(Finding.SMALL) > 190
    for times_smallest, share in ((1.0, 0.03), (1.25, 0.87), (1.5, 1.0)):  # of a spread at which eight can see .05
        held = np.mean([finding is Finding.HOLDS for finding in found(0.05 * times_smallest)])
        assert held == pytest.approx(share, abs=0.08)
    assert Finding.OPPOSITE not in found(0.05)


def test_a_finding_of_sixteen_seeds_stands_only_where_eight_of_them_nearly_always_give_it_again() -> None:
    noise = np.random.default_rng(5).normal(0.0, 0.02, 16)
    noise -= noise.mean()
    level = [0.9] * 16
    assert judged({"here": level, "there": (0.6 + noise).tolist()}).finding is Finding.HOLDS
    for effects in (0.055 + noise, np.repeat([0.0, 0.8], [11, 5]) + noise):
        there = (0.9 - effects).tolist()
        fresh = (np.random.default_rng(7).choice(effects, (8, 400))).T
        share = np.mean(
            [judged({"here": level[:8], "there": (0.9 - row).tolist()}).finding is Finding.HOLDS for row in fresh]
        )
        assert 0.1 < share < 0.8
        shown = judged({"here": level, "there": there})
        assert (shown.finding, shown.weighed.p < 0.05) == (Finding.UNDECIDED, True)
        said = re.fullmatch(
            r"Holds with these 16 seeds, but only (\d+) % of draws of 8 of them say so\.", shown.weighed.why
        )
        assert int(said[1]) / 100 == pytest.approx(share, abs=0.1)
        assert judged({"here": level[:15], "there": there[:15]}).finding is Finding.HOLDS


def test_so_does_one_whose_models_have_hardly_learned_their_task() -> None:
    random = np.random.default_rng(8)
    here, there = 0.902 + 0.06 * np.linspace(-1, 1, 16), np.full(16, 0.4)

    def found(seeds: np.ndarray, level: float) -> ClaimReport:
        rows = {"here": here[seeds].tolist(), "there": there[seeds].tolist()}
        return judged(rows, learned=(("here", "accuracy", level),))

    fresh = [found(random.integers(16, size=8), 0.9).finding for _ in range(400)]
    assert set(fresh) == {Finding.HOLDS, Finding.CANNOT_TELL}
    shown = found(np.arange(16), 0.9)
    assert shown.finding is Finding.UNDECIDED
    said = re.search(r"only (\d+) % of draws of 8", shown.weighed.why)
    assert int(said[1]) / 100 == pytest.approx(fresh.count(Finding.HOLDS) / 400, abs=0.1)
    assert found(np.arange(16), 0.8).finding is Finding.HOLDS


def test_one_arm_at_a_bound_hides_a_small_effect_and_not_a_large_one() -> None:
    below = judged({"here": [0.999] * 8, "there": [0.95 + 0.001 * seed for seed in range(8)]}, 0.2)
    assert (below.finding, below.weighed.why) == (
        Finding.CANNOT_TELL, "“here” is at the best value there is, which may hide a difference.",
    )  # fmt: skip
    assert judged({"here": [0.999] * 8, "there": [0.5] * 8}, 0.2).finding is Finding.HOLDS
    assert judged({"here": [0.9] * 8, "there": [0.1] * 8}, 0.2).finding is Finding.HOLDS


def test_an_effect_that_no_seed_decides_is_hidden_only_where_all_numbers_are_at_bounds() -> None:
    wild = [0.2, 0.9, 0.3, 0.8, 0.25, 0.95, 0.4, 0.7]
    assert judged({"here": [1.0] * 8, "there": wild}, 0.6).finding is Finding.UNDECIDED
    barely = [1.0, 0.96, 1.0, 0.97, 1.0, 1.0, 0.96, 1.0]
    assert judged({"here": [1.0] * 8, "there": barely}, 0.01).finding is Finding.CANNOT_TELL


def test_with_fewer_seeds_than_can_decide_a_claim_is_undecided_wherever_its_numbers_are() -> None:
    assert judged({"here": [1.0] * 5, "there": [1.0] * 5}).finding is Finding.UNDECIDED


@pytest.mark.parametrize(("level", "tells"), [(0.85, True), (0.95, False)])
def test_an_arm_must_first_have_learned_its_task(level: float, tells: bool) -> None:
    found = judged({"here": [0.9] * 8, "there": [0.5] * 8}, learned=(("here", "accuracy", level),))
    assert found.finding is (Finding.HOLDS if tells else Finding.CANNOT_TELL)
    if not tells:
        assert (
            found.weighed.why
            == "“here” has not learned its task: accuracy is 0.90, and the claim asks for at least 0.95."
        )


@pytest.mark.parametrize(("level", "tells"), [(1.2, True), (1.0, False)])
def test_of_a_loss_it_must_have_come_down_to_the_level(level: float, tells: bool) -> None:
    rows = {"here": [1.1] * 8, "there": [1.6] * 8}
    found = judged(rows, metric="loss", learned=(("here", "loss", level),))
    assert (found.finding is not Finding.CANNOT_TELL) == tells
    assert tells or "the claim asks for at most 1." in found.weighed.why


def test_a_best_rate_at_the_end_of_its_grid_says_nothing_about_the_best_rate() -> None:
    claim = Claim("claim", difference("there", "here", "accuracy"), 0.05, "less")
    trials = [
        Trial(arm.name, seed, {"accuracy": value}) for arm, value in ((HERE, 0.9), (THERE, 0.5)) for seed in SEEDS
    ]

    def finding(*at_end: str) -> ClaimReport:
        experiment = Experiment(
            slug="fake", title="Fake", base={"task": "k_back"}, arms=(HERE, THERE), claims=(claim,), rates_at_end=frozenset(at_end)
        )  # fmt: skip
        return report(experiment, trials, SEEDS).claims[0]

    assert finding().finding is Finding.HOLDS
    assert finding("there").finding is Finding.CANNOT_TELL
    assert "The best learning rate of “there” is the last one that was tried" in finding("there").weighed.why


def test_what_is_computed_and_what_is_claimed_to_stay_at_chance_are_no_matter_of_bounds() -> None:
    assert judged({"here": [1.0] * 8, "there": [1.0] * 8}, computed=True).finding is Finding.SMALL
    claim = Claim("claim", within("here", "accuracy", CHANCE, 0.05), 0.01)
    experiment = replace(fake_issue(), arms=(HERE,), claims=(claim,), base={"task": "k_back"})
    near = [Trial("here", seed, {"accuracy": CHANCE + 0.001 * (seed - 4)}) for seed in range(8)]
    told = report(experiment, near, range(8))
    assert told.claims[0].finding is Finding.HOLDS
    row = json.loads(json.dumps(told.to_json()))
    assert (row["finding"], row["claims"][0]["computed"]) == ("holds", False)


def test_the_bounds_of_a_number_are_those_of_its_task_and_a_gradient_has_none() -> None:
    config = fake_issue().config(fake_issue().arms[0])
    assert bounds_of(config, "accuracy@48") == {"ceiling": 1.0, "floor": 0.0, "chance": 1 / 10}
    assert bounds_of(config, "finite") == {"ceiling": 1.0, "floor": 0.0}
    assert bounds_of(config, "loss")["chance"] == pytest.approx(np.log(10))
    assert bounds_of(config, "first_grad.last.q") == bounds_of(config, "parameters") == {}
    assert [bound_at(config, "accuracy", value) for value in (1 - NEAR, 0.97, 0.5)] == ["ceiling", "", ""]


def test_only_decided_findings_contradict_each_other() -> None:
    decided = [finding for finding in Finding if finding.decided]
    assert decided == [Finding.HOLDS, Finding.OPPOSITE, Finding.SMALL]
    assert contradict(Finding.HOLDS, Finding.SMALL)
    assert not contradict(Finding.HOLDS, Finding.HOLDS)
    assert not any(contradict(Finding.HOLDS, other) for other in Finding if not other.decided)
