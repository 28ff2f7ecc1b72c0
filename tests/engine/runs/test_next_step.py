"""What is suggested after a run: one allowed change that fits its end, and an issue that exists."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.experiments.issues import ISSUES
from engine.runs.events import Event, Failed, Finished, Progress, Started
from engine.runs.next_step import next_step
from engine.settings.costs import Memory
from tests.tables import tables_beside

CASES = tables_beside(__file__)

MEMORY = Memory(parameters=1, gradients=1, optimizer=1, saved=1, scores=1)


def ended(accuracy: float, *, gap: float = 0.0) -> list[Event]:
    """The events of a run that finished at this held-out accuracy."""
    metrics = {"loss": 1.0 + gap, "first_half_accuracy": 0.1, "second_half_accuracy": accuracy}
    chance = {"loss": 2.3, "first_half_accuracy": 0.1, "second_half_accuracy": 0.1}
    started = Started(10, MEMORY, None, chance, None, "cpu")
    steps = [Progress(step, 1.0, 1.0, 0.01, 1.0, metrics, metrics) for step in range(1, 11)]
    return [started, *steps, Finished(10, metrics, [], MEMORY, 1.0)]


@pytest.mark.parametrize(("settings", "accuracy", "changes", "issue"), CASES["changes"])
def test_the_change_fits_it(settings: dict[str, Any], accuracy: float, changes: Mapping[str, Any], issue: str) -> None:
    step = next_step(parse(settings), ended(accuracy))
    assert (dict(step.changes), step.issue) == (changes, issue)


def test_every_change_is_allowed_and_named_and_every_issue_exists() -> None:
    settings = ({}, {"pos_encoding": "rope"}, {"skips": False}, {"norm": "none"}, {"family": "gru"}, {"task": "sort"})
    for flat, accuracy, gap in itertools.product(settings, (0.1, 0.5, 1.0), (0.0, 1.0)):
        config = parse(flat)
        step = next_step(config, ended(accuracy, gap=gap))
        if step is not None:
            assert bool(step.changes) == (config.replace(**step.changes) != config)
            assert bool(step.label(config)) == bool(step.changes)
            assert step.issue in ISSUES or not step.issue


def test_a_failure_is_followed_by_what_prevented_it_and_a_run_that_goes_on_by_nothing() -> None:
    failed = Failed(7, "Step 7: loss is no longer finite.", 3, "loss", "grad_clip=1.0")
    step = next_step(parse({"norm": "none"}), [failed])
    assert (dict(step.changes), step.issue) == ({"grad_clip": "1.0"}, "no-normalization")
    assert step.label(RunConfig()).endswith("1.0")
    assert next_step(RunConfig(), ended(1.0)[:-1]) is None
