"""Percentiles, medians and tables."""

import math

from tests.load.against import with_ratio
from tests.load.table import medians, percentile, table


def test_a_percentile_is_one_of_the_values_and_enough_of_them_lie_at_or_below_it() -> None:
    values = [float(n) for n in range(20, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.95), percentile([7.0], 0.95)) == (10, 19, 7)
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


def test_two_commits_stand_side_by_side_with_the_ratio_where_there_is_one() -> None:
    both = {"new": {"a (s)": 1.0, "b": 0.0, "c": 3.0}, "old": {"a (s)": 4.0, "b": 0.0}}
    assert with_ratio(both) == both | {"new / old": {"a (s)": 0.25}}
