import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.experiments.bounds import NEAR, bound_at, bounds_of
from engine.experiments.experiment import Arm, Claim, Experiment, Relative, difference, within
from engine.experiments.finding import Finding, contradict
from engine.experiments.report import ClaimReport, Report, report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue

HERE, THERE = Arm("here", "control"), Arm("there", "fault")
SEEDS = range(16)
CHANCE = 1 / 10


def reported(
    numbers: Mapping[str, Sequence[float]],
    smallest: float = 0.05,
    metric: str = "accuracy",
    times: int = 1,
    **more: object,
) -> Report:
    """The report on the claim, made so many ``times``, that "there" is below "here" by a metric, of these numbers by arm and seed."""
    claim = Claim("claim", difference("there", "here", metric), smallest, "less", **more)  # type: ignore[arg-type]
    experiment = replace(fake_issue(), arms=(HERE, THERE), claims=(claim,) * times, base={"task": "k_back"})
    trials = [Trial(arm, seed, {metric: value}) for arm, values in numbers.items() for seed, value in enumerate(values)]
    return report(experiment, trials, range(max(map(len, numbers.values()))))


def judged(numbers: Mapping[str, Sequence[float]], *given: object, **more: object) -> ClaimReport:
    return reported(numbers, *given, **more).claims[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", [1.0, 0.0, CHANCE])
@pytest.mark.parametrize("smallest", [0.05, 0.2])
def test_two_arms_at_a_bound_are_never_too_small_to_count(bound: float, smallest: float) -> None:
    random = np.random.default_rng(5)
    for _ in range(100):
        rows = {name: np.clip(bound + random.normal(0, 0.004, 16), 0, 1).tolist() for name in ("here", "there")}
        assert judged(rows, smallest).finding is Finding.CANNOT_TELL
    assert "no difference can appear" in judged(rows).weighed.why


@pytest.mark.parametrize("position", [0.3, 0.6, 0.85])
def test_between_the_bounds_a_small_effect_is_too_small_and_a_planted_one_is_found_as_often_as_is_stated(
    position: float,
) -> None:
    random = np.random.default_rng(6)

    def planted_findings(effect: float, times: int = 200) -> list[Finding]:
        pairs = (
            (random.normal(position, 0.012, 16), random.normal(position - effect, 0.012, 16)) for _ in range(times)
        )
        return [judged({"here": here.tolist(), "there": there.tolist()}).finding for here, there in pairs]

    nothing = planted_findings(0.0)
    assert set(nothing) <= {Finding.SMALL, Finding.UNDECIDED}
    assert nothing.count(Finding.SMALL) > 190
    for times_smallest, share in ((1.0, 0.48), (1.25, 1.0), (1.5, 1.0)):  # of a spread at which eight can see .05
        share_holding = np.mean([finding is Finding.HOLDS for finding in planted_findings(0.05 * times_smallest)])
        assert share_holding == pytest.approx(share, abs=0.08)
    assert Finding.OPPOSITE not in planted_findings(0.05)


def finding_and_number(rows: Mapping[str, Sequence[float]], **more: object) -> tuple[Finding, float | None]:
    """The finding of one claim, and the share of draws of eight seeds that give it again."""
    found = reported(rows, **more)
    return found.claims[0].finding, found.reproducibility(found.claims[0])


def test_beside_a_finding_of_sixteen_seeds_stands_how_often_eight_of_them_give_it_again() -> None:
    noise = np.random.default_rng(5).normal(0.0, 0.02, 16)
    noise -= noise.mean()
    level = [0.9] * 16
    assert finding_and_number({"here": level, "there": (0.6 + noise).tolist()}) == (Finding.HOLDS, 1.0)
    for effects in (0.055 + noise, np.repeat([0.0, 0.8], [11, 5]) + noise):
        there = (0.9 - effects).tolist()
        fresh = np.random.default_rng(7).choice(effects, (400, 8))
        share = np.mean(
            [judged({"here": level[:8], "there": (0.9 - row).tolist()}).finding is Finding.HOLDS for row in fresh]
        )
        assert 0.1 < share < 0.8
        finding, again = finding_and_number({"here": level, "there": there})
        assert finding is Finding.HOLDS, "it is that of all sixteen"
        assert again == pytest.approx(share, abs=0.1)
        assert finding_and_number({"here": level[:15], "there": there[:15]}) == (Finding.HOLDS, None)


def test_a_draw_in_which_too_few_have_learned_does_not_give_the_finding_again() -> None:
    random = np.random.default_rng(8)
    here, there = np.repeat([0.95, 0.85], [13, 3]), np.full(16, 0.4)

    def draw_finding(seeds: np.ndarray) -> tuple[Finding, float | None]:
        rows = {"here": here[seeds].tolist(), "there": there[seeds].tolist()}
        return finding_and_number(rows, learned=(("here", "accuracy", 0.9),))

    fresh = [draw_finding(random.integers(16, size=8))[0] for _ in range(400)]
    assert set(fresh) == {Finding.HOLDS, Finding.CANNOT_TELL}
    finding, again = draw_finding(np.arange(16))
    assert finding is Finding.HOLDS
    assert again == pytest.approx(fresh.count(Finding.HOLDS) / 400, abs=0.1)


@pytest.mark.parametrize(("learned", "tells"), [(12, True), (11, False)])
def test_three_seeds_in_four_must_have_learned_whatever_their_mean(learned: int, tells: bool) -> None:
    rows = {"here": [0.99] * learned + [0.89] * (16 - learned), "there": [0.5] * 16}
    found = judged(rows, learned=(("here", "accuracy", 0.9),))
    assert found.finding is (Finding.HOLDS if tells else Finding.CANNOT_TELL)


def test_with_sixteen_seeds_p_is_that_of_all_claims_together() -> None:
    effects = np.repeat([0.3, -0.1], [12, 4]) + np.random.default_rng(3).normal(0, 0.05, 16)
    rows = {"here": [0.9] * 16, "there": (0.9 - effects).tolist()}
    alone = reported(rows).claims[0]
    assert (alone.finding, 0.001 < alone.p_holm < 0.05) == (Finding.HOLDS, True)
    together = reported(rows, times=40).claims[0]
    assert (together.finding, together.weighed.effect) == (Finding.UNDECIDED, alone.weighed.effect)
    assert together.weighed.why == f"Corrected for the number of claims, p is {together.p_holm:.2g}."


def test_an_effect_is_too_small_only_where_the_better_number_had_room_for_one_that_counts() -> None:
    gaps = {"here": [0.11 + 0.001 * seed for seed in range(8)], "there": [0.1] * 8}
    assert judged(gaps, 0.05, "gap").finding is Finding.SMALL
    narrow = judged(gaps, 0.2, "gap")
    assert (narrow.finding, narrow.weighed.why) == (
        Finding.CANNOT_TELL, "“there” has room for 0.1 at most, and the smallest effect that counts is 0.2.",
    )  # fmt: skip
    near = {"here": [0.94 + 0.001 * seed for seed in range(8)], "there": [0.94] * 8}
    assert [judged(near, smallest).finding for smallest in (0.05, 0.07)] == [Finding.SMALL, Finding.CANNOT_TELL]


def test_a_share_cannot_fall_by_more_than_the_whole() -> None:
    claim = Claim("claim", Relative("there", "residual", "here"), 1.0)
    experiment = replace(fake_issue(), arms=(HERE, THERE), claims=(claim,), base={"task": "k_back"})
    rows = {"here": [0.6 + 0.01 * seed for seed in range(8)], "there": [0.4] * 8}
    trials = [
        Trial(arm, seed, {"residual": value}) for arm, values in rows.items() for seed, value in enumerate(values)
    ]
    assert report(experiment, trials, range(8)).claims[0].finding is Finding.CANNOT_TELL


def test_one_arm_at_a_bound_hides_a_small_effect_and_not_a_large_one() -> None:
    below = judged({"here": [0.999] * 8, "there": [0.95 + 0.001 * seed for seed in range(8)]}, 0.2)
    assert (below.finding, below.weighed.why) == (
        Finding.CANNOT_TELL, "“here” is at the best possible value, which may hide a difference.",
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
        assert found.weighed.why == "“here” has not learned its task: accuracy is at least 0.95 in 0 of 8 seeds."


@pytest.mark.parametrize(("level", "tells"), [(1.2, True), (1.0, False)])
def test_of_a_loss_it_must_have_come_down_to_the_level(level: float, tells: bool) -> None:
    rows = {"here": [1.1] * 8, "there": [1.6] * 8}
    found = judged(rows, metric="loss", learned=(("here", "loss", level),))
    assert (found.finding is not Finding.CANNOT_TELL) == tells
    assert tells or "loss is at most 1 in 0 of 8 seeds" in found.weighed.why


def test_a_best_rate_at_the_end_of_its_grid_says_nothing_about_the_best_rate() -> None:
    claim = Claim("claim", difference("there", "here", "accuracy"), 0.05, "less")
    trials = [
        Trial(arm.name, seed, {"accuracy": value}) for arm, value in ((HERE, 0.9), (THERE, 0.5)) for seed in SEEDS
    ]

    def finding(*arms: str) -> ClaimReport:
        experiment = Experiment(
            slug="fake", title="Fake", base={"task": "k_back"}, arms=(HERE, THERE), claims=(claim,), rates_at_grid_edge=frozenset(arms)
        )  # fmt: skip
        return report(experiment, trials, SEEDS).claims[0]

    assert finding().finding is Finding.HOLDS
    assert finding("there").finding is Finding.CANNOT_TELL
    assert "The best learning rate of “there” is the highest or lowest that we tried" in finding("there").weighed.why


def test_what_is_computed_and_what_is_claimed_to_stay_at_chance_are_no_matter_of_bounds() -> None:
    assert judged({"here": [1.0] * 8, "there": [1.0] * 8}, computed=True).finding is Finding.SMALL
    claim = Claim("claim", within("here", "accuracy", CHANCE, 0.05), 0.01)
    experiment = replace(fake_issue(), arms=(HERE,), claims=(claim,), base={"task": "k_back"})
    near = [Trial("here", seed, {"accuracy": CHANCE + 0.001 * (seed - 4)}) for seed in range(8)]
    found = report(experiment, near, range(8))
    assert found.claims[0].finding is Finding.HOLDS
    row = json.loads(json.dumps(found.to_json()))
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
