"""Percentiles, medians, tables, and the calculation of workers and app processes for a number of seats from what was measured."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.load.echo import costs_of, told
from tests.load.seats import FULL, Costs, first_full, in_groups, plan
from tests.load.table import medians, percentile, put, table

COSTS = Costs(run=1.3, viewer=0.02, scheduler=0.0005, app=0.0007)


def test_a_percentile_is_one_of_the_values_and_enough_of_them_lie_at_or_below_it() -> None:
    values = [float(n) for n in range(20, 0, -1)]
    assert percentile(values, 0.5) == 10
    assert percentile(values, 0.95) == 19
    assert percentile([7.0], 0.95) == 7
    assert math.isnan(percentile([], 0.5))
    assert percentile([0.1, math.inf], 0.95) == math.inf, "one without an answer is the slowest"


def test_medians_leave_out_the_rounds_without_a_value() -> None:
    rounds = [{"a": 1.0, "b": math.nan}, {"a": 5.0, "b": math.nan}, {"a": 2.0, "c": 4.0}]
    found = medians(rounds)
    assert (found["a"], found["c"]) == (2.0, 4.0)
    assert math.isnan(found["b"])


def test_a_table_has_a_row_for_each_figure_and_says_what_is_missing() -> None:
    assert table({"one": {"a (s)": 0.12345, "b": 3.0}, "many": {"a (s)": math.inf}}).splitlines() == [
        "| | one | many |",
        "|---|--:|--:|",
        "| a (s) | 0.123 | no answer |",
        "| b | 3 | – |",
    ]


def test_a_table_replaces_only_its_own_section_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "load.md"
    page.write_text("Before.\n<!-- lab -->\n<!-- end of lab -->\nAfter.\n", "utf-8")  # still empty
    put(page, "lab", "new")
    put(page, "lab", "newer")
    assert page.read_text("utf-8") == "Before.\n<!-- lab -->\nnewer\n<!-- end of lab -->\nAfter.\n"
    put(page, "mixed", "other")
    assert page.read_text("utf-8").startswith("Before.\n<!-- lab -->\nnewer\n")
    assert page.read_text("utf-8").endswith("After.\n\n<!-- mixed -->\nother\n<!-- end of mixed -->\n")


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
    groups, of_each = in_groups(seats, COSTS)
    assert (of_each.app_processes, of_each.fits) == (1, True)
    assert groups * of_each.seats >= seats


def row(*values: float) -> dict[str, float]:
    names = ("asked for (messages/s)", "heard (messages/s)", "scheduler (cores)", "client (cores)")
    return dict(zip(names, values, strict=True))


def test_a_message_costs_what_the_cores_grow_by_unless_the_machine_was_too_busy_to_hear_them() -> None:
    rows = [row(0, 0, 0.1, 0.05), row(100, 100, 0.2, 0.2), row(1000, 1000, 0.6, 0.85), row(4000, 2000, 1.0, 1.0)]
    costs = costs_of(rows)
    assert costs.scheduler == pytest.approx(0.0005)
    assert costs.app == pytest.approx(0.0008)
    assert "The app's process is full first" in told(rows, 100, [30, 300])
    with pytest.raises(ValueError, match="too busy"):
        costs_of([row(0, 0, 0.1, 0.05), row(100, 82, 0.1, 0.1), row(1000, 250, 0.05, 0.07)])
