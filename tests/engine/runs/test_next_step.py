import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import metric_names
from engine.experiments.issues import ISSUES
from engine.runs.events import Event, Failed, Finished, Progress, Started
from engine.runs.next_step import NextStep, next_step
from engine.settings.costs import Memory
from engine.training.train import train
from tests.tables import tables_beside

CASES = tables_beside(__file__)

MEMORY = Memory(parameters=1, gradients=1, optimizer=1, saved=1, scores=1)


def events_of(
    accuracy: float, *, gap: float = 0.0, rise: float = 0.0, fall: float = 0.0, chance: float = 0.1
) -> list[Event]:
    """The events of a run that finished at this held-out accuracy, after one that rose and a loss that fell by so much in all."""
    begun = dict.fromkeys(("accuracy", "first_half_accuracy", "second_half_accuracy"), chance) | {"loss": 2.3}
    rows = []
    for step in range(1, 11):
        value, loss = accuracy - rise * (10 - step) / 9, 1.0 + gap + fall * (10 - step) / 9
        rows.append({"loss": loss, "first_half_accuracy": chance, "second_half_accuracy": value, "accuracy": value})
    steps = [Progress(step, 1.0, 1.0, 0.01, 1.0, row, row) for step, row in enumerate(rows, 1)]
    return [Started(10, MEMORY, None, begun, None, "cpu"), *steps, Finished(10, rows[-1], [], MEMORY, 1.0)]


@pytest.mark.parametrize(("settings", "accuracy", "changes", "issue"), CASES["changes"])
def test_the_change_fits_it(settings: dict[str, Any], accuracy: float, changes: Mapping[str, Any], issue: str) -> None:
    step = next_step(parse(settings), events_of(accuracy))
    assert (dict(step.changes), step.issue) == (changes, issue)


def test_every_change_is_allowed_and_named_and_every_issue_exists() -> None:
    settings = ({}, {"pos_encoding": "rope"}, {"skips": False}, {"norm": "none"}, {"family": "gru"}, {"task": "sort"})
    for flat, accuracy, gap in itertools.product(settings, (0.1, 0.5, 1.0), (0.0, 1.0)):
        config = parse(flat)
        step = next_step(config, events_of(accuracy, gap=gap))
        if step is not None:
            assert bool(step.changes) == (config.replace(**step.changes) != config)
            assert bool(step.label(config)) == bool(step.changes)
            assert step.issue in ISSUES or not step.issue


def test_a_failure_is_followed_by_what_prevented_it_and_a_run_that_goes_on_by_nothing() -> None:
    failed = Failed(7, "Step 7: loss is no longer finite.", 3, "loss", "grad_clip=1.0")
    step = next_step(parse({"norm": "none"}), [failed])
    assert (dict(step.changes), step.issue) == ({"grad_clip": "1.0"}, "no-normalization")
    assert step.label(RunConfig()).endswith("1.0")
    assert next_step(RunConfig(), events_of(1.0)[:-1]) is None


@pytest.mark.parametrize(("flat", "word", "changes"), CASES["far_off"], ids=str)
def test_at_chance_the_setting_far_from_those_that_learn_is_named(
    flat: dict[str, Any], word: str, changes: Mapping[str, Any]
) -> None:
    for fall in (0.0, 0.4):  # a loss still falls from that of the first guesses to that of even ones
        step = next_step(parse(flat), events_of(0.12, fall=fall))
        assert step is not None
        assert (word in step.reason, dict(step.changes)) == (True, changes)


@pytest.mark.parametrize("flat", CASES["too_short"], ids=str)
def test_more_steps_are_told_only_where_the_curve_has_a_slope(flat: dict[str, Any]) -> None:
    config, more = parse(flat), {"steps": 3 * parse(flat).steps}
    for slope in ({"rise": 0.3}, {"fall": 0.3}):
        step = next_step(config, events_of(0.6, **slope))
        assert step is not None
        assert step.changes == more
        assert "still" in step.reason
    for slope in ({}, {"rise": -0.3}):
        step = next_step(config, events_of(0.6, **slope))
        assert step is not None
        assert step.changes != more
    (started, *_, end) = events_of(0.1)
    one = Progress(1, 1.0, 1.0, 0.01, 1.0, end.metrics, end.metrics)
    step = next_step(config, [started, one, end])
    assert step is not None
    assert step.reason.startswith("This run is too short")


def test_an_accuracy_that_falls_again_asks_for_a_lower_rate_and_a_rise_counts_for_more_than_a_suspect() -> None:
    step = next_step(RunConfig(), events_of(0.5, rise=-0.4))
    assert step is not None
    assert dict(step.changes) == {"learning_rate": 0.003}
    step = next_step(parse({"dropout": 0.7}), events_of(0.63, rise=0.3))
    assert step is not None
    assert dict(step.changes) == {"steps": 900}


def learned(config: RunConfig) -> tuple[float, NextStep | None]:
    events = list(train(config))
    assert isinstance(events[-1], Finished)
    return events[-1].metrics[metric_names(config)[0]], next_step(config, events)


@pytest.mark.thorough
@pytest.mark.parametrize(("flat", "word", "changes"), CASES["far_off"], ids=str)
def test_a_run_that_fails_for_a_known_cause_is_told_it_and_learns_without_it(
    flat: dict[str, Any], word: str, changes: Mapping[str, Any]
) -> None:
    config = parse(flat)
    before, step = learned(config)
    assert step is not None
    assert (word in step.reason, dict(step.changes)) == (True, changes)
    after, _ = learned(config.replace(**changes))
    assert before < 0.97 < 0.99 <= after


@pytest.mark.thorough
@pytest.mark.parametrize("flat", CASES["too_short"], ids=str)
def test_a_run_that_only_lacks_steps_is_told_so_and_gets_further_with_them(flat: dict[str, Any]) -> None:
    config = parse(flat)
    before, step = learned(config)
    assert step is not None
    assert dict(step.changes) == {"steps": 3 * config.steps}
    after, _ = learned(config.replace(**step.changes))
    assert before < 0.9 <= after
