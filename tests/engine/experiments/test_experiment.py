import json
import math
from dataclasses import replace

import numpy as np
import pytest

from engine.experiments.benchmark.criteria import CHOICE
from engine.experiments.comparison import Comparison
from engine.experiments.experiment import Arm, Experiment, Relative
from engine.experiments.issues import ISSUES
from engine.experiments.report import report
from engine.experiments.trial import POINTS, Trial, numbers_of, read_trial
from engine.runs.events import Ended, Event, Failed, Finished, Progress, Started
from engine.settings.costs import Memory
from tests.engine.experiments.fake_issue import fake_issue


def test_the_seeds_follow_the_first_and_bad_numbers_are_refused_in_one_sentence() -> None:
    assert fake_issue(seeds=3, first_seed=10).seed_range == range(10, 13)
    with pytest.raises(ValueError, match=r"seeds is 0; it must be a whole number from 1 to 16\."):
        fake_issue(seeds=0)
    with pytest.raises(ValueError, match="first_seed is -1; it must be a whole number from 0"):
        fake_issue(first_seed=-1)


@pytest.mark.parametrize(
    "experiment",
    [*ISSUES.values(), Comparison({}).experiment, CHOICE],
    ids=lambda one: one.slug,
)
def test_the_vocabulary_of_every_experiment_on_a_text_has_its_held_out_tokens(experiment: Experiment) -> None:
    experiment.refuse_unknown(extended=True)


def test_an_arm_is_the_same_under_another_name_but_not_under_other_settings() -> None:
    experiment = fake_issue()
    long = experiment.arm("long")
    other = replace(experiment, slug="other", seeds=2, base={**experiment.base, "learning_rate": 1e-5})
    assert experiment.identity(long) == experiment.identity(Arm("renamed", "fault", {}))
    assert experiment.identity(long) != experiment.identity(replace(long, measurements=("pointing",)))
    assert experiment.identity(long) != experiment.identity(experiment.arm("short"))
    assert experiment.identity(long) != other.identity(long)
    assert experiment.identity(long) != replace(experiment, curves=("grad.0.q",)).identity(long)


def test_the_points_of_an_arm_that_is_a_line_by_itself_come_from_its_trials_seed_by_seed() -> None:
    issue = fake_issue()
    arm = replace(issue.arms[0], points=((1.0, "accuracy@6"), (2.0, "accuracy@12")))
    issue = replace(issue, arms=(arm, *issue.arms[1:]))
    trials = [Trial(arm.name, 0, {"accuracy@6": 1.0, "accuracy@12": 0.5}), Trial(arm.name, 1, {"accuracy@6": 0.9})]
    first, *others = json.loads(json.dumps(report(issue, trials, range(3)).to_json()))["arms"]
    assert [(point["x"], point["metric"], point["values"]) for point in first["points"]] == [
        (1.0, "accuracy@6", [1.0, 0.9, None]), (2.0, "accuracy@12", [0.5, None, None]),
    ]  # fmt: skip
    assert not any(other["points"] for other in others)


def test_the_numbers_of_a_claim_are_those_of_its_effect_and_of_what_must_be_learned() -> None:
    claim = replace(fake_issue().claims[0], learned=(("long", "accuracy", 0.9),))
    assert claim.numbers == [*claim.effect_numbers, ("long", "accuracy")]


def test_a_relative_change_is_a_share_of_the_other_number_seed_by_seed() -> None:
    numbers = {("a", "residual"): [1.0, 3.0], ("b", "residual"): [2.0, 1.0], ("b", "before"): [4.0, 12.0]}

    def values(arm: str, metric: str) -> np.ndarray:
        return np.array(numbers[arm, metric])

    np.testing.assert_allclose(Relative("a", "residual", "b")(values), [-0.5, 2.0])
    np.testing.assert_allclose(Relative("a", "residual", "b", "before")(values), [-0.75, -0.75])


def test_the_fingerprint_of_an_arm_changes_with_what_it_is_given_and_its_rate_alone() -> None:
    experiment = fake_issue()
    arm = experiment.arm("long")
    assert experiment.fingerprint(arm) == experiment.fingerprint(replace(arm, name="renamed"))
    assert experiment.fingerprint(arm) == replace(experiment, seeds=2).fingerprint(arm)
    others = [
        replace(experiment, rates={arm.name: 0.5}).fingerprint(arm),
        experiment.fingerprint(replace(arm, settings={**arm.settings, "d_model": 64})),
        replace(experiment, base={**experiment.base, "batch_size": 8}).fingerprint(arm),
    ]
    assert len({experiment.fingerprint(arm), *others}) == 4


MEMORY = Memory(1, 1, 2, 3, 0)
STARTED = Started(42, MEMORY, None, {"loss": 2.3, "accuracy": 0.1}, None, "cpu")


def progress(step: int, loss: float, validation: float | None = None) -> Progress:
    return Progress(
        step, loss, 1.0, 0.1, 1.0,
        validation=None if validation is None else {"loss": validation, "accuracy": 0.5},
        grad_norms=None if validation is None else {"0.q": float(step), "0.v": 1.0},
    )  # fmt: skip


def test_the_numbers_of_a_run_that_finished() -> None:
    steps: list[Event] = [progress(n, 1.0 / n, 1.2 if n == 5 else 1.4 if n % 2 else None) for n in range(1, 21)]
    by_length = [{"length": 6, "loss": 1.0, "accuracy": 0.9}, {"length": 9, "note": "no row"}]
    last = Finished(20, {"loss": 1.5, "accuracy": 0.6}, by_length, MEMORY, 2.0, {"pointing": 0.7})
    numbers = numbers_of([STARTED, *steps, last])
    train_loss = sum(1 / n for n in range(11, 21)) / 10
    expected = {
        "parameters": 42, "finite": 1, "accuracy": 0.6, "pointing": 0.7, "accuracy@6": 0.9, "train_loss": train_loss,
        "gap": 1.5 - train_loss, "best_loss": 1.2, "overtraining": 0.3, "grad.0.q": 10,  # the mean of 1, 3, ..., 19
    }  # fmt: skip
    assert {name: numbers[name] for name in expected} == pytest.approx(expected)
    assert "accuracy@9" not in numbers


def test_a_run_that_did_not_finish_says_why_and_has_no_result() -> None:
    failed = read_trial("a", 3, [STARTED, progress(1, 9.0), Failed(2, "Step 2: loss is no longer finite.", 0, "loss")])
    assert (failed.numbers["finite"], failed.numbers["failed_step"]) == (0, 2)
    assert failed.failure == "Step 2: loss is no longer finite."
    assert "loss" not in failed.numbers
    assert math.isnan(failed.number("accuracy"))
    lost = read_trial("a", 0, [STARTED, progress(1, 1.0), Ended(1, "lost", "The worker died.")])
    assert "finite" not in lost.numbers, "it is neither finite nor not"
    assert lost.failure == "The worker died."
    assert read_trial("a", 0, []).numbers == {}
    assert "train_loss" not in numbers_of([progress(1, math.inf)])


def test_a_long_curve_is_thinned_to_means_that_keep_its_ends_and_has_the_gradient_norms_asked_for() -> None:
    curve = read_trial("a", 0, [progress(n, float(n)) for n in range(1, 1001)]).curves["loss"]
    assert len(curve) <= POINTS
    assert curve[-1][0] == 1000
    assert sum(value for _, value in curve) / len(curve) == 500.5
    rows = [(1, {"0.q": 0.5, "0.v": 2.0}), (2, None), (3, {"0.q": 0.25, "0.v": 1.0})]
    events = [replace(progress(step, 1.0), grad_norms=norms) for step, norms in rows]
    curves = read_trial("a", 0, events, ["grad.0.q", "grad.9.q"]).curves
    assert (curves.keys(), curves["grad.0.q"]) == ({"loss", "grad.0.q"}, [(1, 0.5), (3, 0.25)])
