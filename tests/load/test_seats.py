"""The calculation of workers and app processes for a number of seats, and the costs that it is given."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.load.echo import costs_of, told
from tests.load.seats import FULL, Costs, first_full, in_groups, plan

COSTS = Costs(run=1.3, viewer=0.02, scheduler=0.0005, app=0.0007)


@pytest.mark.parametrize("seats", [1, 30, 300, 3000])
def test_no_part_is_fuller_than_it_may_be_and_none_is_superfluous(seats: int) -> None:
    found = plan(seats, COSTS)
    assert found.app <= FULL
    assert seats / 60 * COSTS.run / found.workers <= FULL
    assert found.workers == 1 or seats / 60 * COSTS.run / (found.workers - 1) > FULL
    assert found.fits == (found.scheduler <= FULL)
    assert found.together == pytest.approx(seats * COSTS.run / found.workers), "everybody at once"


def test_more_seats_and_more_runs_never_need_less() -> None:
    plans = [plan(seats, COSTS) for seats in range(1, 2000, 37)]
    for less, more in pairwise(plans):
        assert (less.workers, less.app_processes) <= (more.workers, more.app_processes)
        assert less.messages <= more.messages
    assert plan(300, COSTS, 2.0).workers > plan(300, COSTS).workers


def test_what_is_full_first_is_enough_up_to_that_number_of_seats_and_no_further() -> None:
    name, most = first_full(COSTS)
    assert name == "the app's process"
    assert plan(most, COSTS).app_processes == 1
    assert plan(most + 1, COSTS).app_processes > 1
    name, most = first_full(replace(COSTS, scheduler=0.5))
    assert name == "the scheduler"
    assert plan(most, replace(COSTS, scheduler=0.5)).fits
    assert not plan(most + 1, replace(COSTS, scheduler=0.5)).fits
    assert math.isinf(plan(3000, replace(COSTS, app=0.1)).app)


@pytest.mark.parametrize("seats", [1, 35, 36, 3000])
def test_a_group_has_one_app_process_and_a_scheduler_that_is_enough(seats: int) -> None:
    groups = in_groups(seats, COSTS)
    assert groups.of_each.app_processes == 1
    assert groups.of_each.fits
    assert groups.number * groups.of_each.seats >= seats


def row(asked: float, heard: float, scheduler: float, client: float) -> dict[str, float]:
    return {
        "asked for (messages/s)": asked, "heard (messages/s)": heard, "scheduler (cores)": scheduler, "client (cores)": client,
    }  # fmt: skip


def test_a_message_costs_what_the_cores_grow_by_unless_the_machine_was_too_busy_to_hear_them() -> None:
    rows = [row(0, 0, 0.1, 0.05), row(100, 100, 0.2, 0.2), row(1000, 1000, 0.6, 0.85), row(4000, 2000, 1.0, 1.0)]
    costs = costs_of(rows)
    assert costs.scheduler == pytest.approx(0.0005)
    assert costs.app == pytest.approx(0.0008)
    assert "The app's process is full first" in told(rows, 100, [30, 300])
    with pytest.raises(ValueError, match="too busy"):
        costs_of([row(0, 0, 0.1, 0.05), row(100, 82, 0.1, 0.1), row(1000, 250, 0.05, 0.07)])
