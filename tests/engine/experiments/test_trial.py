"""A trial's numbers and curves, read from events."""

from __future__ import annotations

import math
from dataclasses import replace

from engine.experiments.trial import POINTS, numbers_of, read_trial
from engine.runs.events import Ended, Event, Failed, Finished, Progress, Started
from engine.settings.costs import Memory

MEMORY = Memory(1, 1, 2, 3, 0)
STARTED = Started(42, MEMORY, None, {"loss": 2.3, "accuracy": 0.1}, None, "cpu")


def progress(step: int, loss: float, validation: float | None = None) -> Progress:
    return Progress(
        step, loss, 1.0, 0.1, 1.0,
        validation=None if validation is None else {"loss": validation, "accuracy": 0.5},
        grad_norms=None if validation is None else {"0.q": float(step), "0.v": 1.0},
    )  # fmt: skip


def finished(step: int, **measured: float) -> Finished:
    by_length = [{"length": 6, "loss": 1.0, "accuracy": 0.9}, {"length": 9, "note": "no row"}]
    return Finished(step, {"loss": 1.5, "accuracy": 0.6}, by_length, MEMORY, 2.0, measured)


def test_the_numbers_of_a_run_that_finished() -> None:
    events: list[Event] = [
        STARTED,
        *(progress(n, 1.0 / n, 1.2 if n == 5 else 1.4 if n % 2 else None) for n in range(1, 21)),
    ]
    numbers = numbers_of([*events, finished(20, pointing=0.7)])
    train_loss = sum(1 / n for n in range(11, 21)) / 10
    assert numbers["parameters"] == 42
    assert numbers["finite"] == 1
    assert numbers["accuracy"] == 0.6
    assert numbers["pointing"] == 0.7
    assert numbers["accuracy@6"] == 0.9
    assert "accuracy@9" not in numbers
    assert math.isclose(numbers["train_loss"], train_loss)
    assert math.isclose(numbers["gap"], 1.5 - train_loss)
    assert numbers["best_loss"] == 1.2
    assert math.isclose(numbers["overtraining"], 0.3)
    assert numbers["grad.0.q"] == 10  # the mean of 1, 3, ..., 19


def test_a_run_that_was_not_finite_says_where_and_has_no_result() -> None:
    trial = read_trial("a", 3, [STARTED, progress(1, 9.0), Failed(2, "Step 2: loss is no longer finite.", 0, "loss")])
    assert trial.numbers["finite"] == 0
    assert trial.numbers["failed_step"] == 2
    assert "loss" not in trial.numbers
    assert math.isnan(trial.number("accuracy"))
    assert trial.outcome == "Step 2: loss is no longer finite."


def test_a_run_that_was_lost_is_neither_finite_nor_not() -> None:
    trial = read_trial("a", 0, [STARTED, progress(1, 1.0), Ended(1, "lost", "The worker died.")])
    assert "finite" not in trial.numbers
    assert trial.outcome == "The worker died."


def test_what_is_not_finite_is_no_number() -> None:
    assert "train_loss" not in numbers_of([progress(1, math.inf)])


def test_a_long_curve_is_thinned_to_means_that_keep_its_ends() -> None:
    trial = read_trial("a", 0, [progress(n, float(n)) for n in range(1, 1001)])
    curve = trial.curves["loss"]
    assert len(curve) <= POINTS
    assert curve[-1][0] == 1000
    assert sum(value for _, value in curve) / len(curve) == 500.5


def test_no_events_are_no_numbers() -> None:
    assert read_trial("a", 0, []).numbers == {}


def test_gradient_norms_asked_for_are_kept_along_training() -> None:
    rows = [(1, {"0.q": 0.5, "0.v": 2.0}), (2, None), (3, {"0.q": 0.25, "0.v": 1.0})]
    events = [replace(progress(step, 1.0), grad_norms=norms) for step, norms in rows]
    curves = read_trial("a", 0, events, ["grad.0.q", "grad.9.q"]).curves
    assert curves["grad.0.q"] == [(1, 0.5), (3, 0.25)]
    assert "grad.9.q" not in curves
    assert "grad.0.v" not in curves
