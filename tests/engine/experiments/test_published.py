"""Published numbers: each that the app shows stands in its source, at the length and for the encoding beside which it is shown."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.encodings import ENCODINGS
from engine.experiments.benchmark.criteria import CRITERIA
from engine.experiments.issues import ISSUES

READ_AGAIN: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""By source, the second reading."""
NAMES = {
    "NoPE": "nope",
    "T5 bias": "t5_bias",
    "ALiBi": "alibi",
    "Rotary": "rope",
    "Absolute (sinusoidal)": "sinusoidal",
}
"""The encodings by the names that tables of issues give them."""
Number = tuple[str, str, int, float]
"""The source, the encoding, the multiple of the trained length, and the number."""


def in_the_sources() -> Iterator[Number]:
    for source, reading in READ_AGAIN.items():
        for length, *numbers in reading["rows"]:
            for encoding, number in zip(reading["columns"], numbers, strict=True):
                times = round(length / reading["trained"])
                yield source, encoding, times, pytest.approx(number * reading.get("unit", 1))


def in_the_table() -> Iterator[Number]:
    for paper in (paper for criterion in CRITERIA.values() for paper in criterion.papers):
        for encoding, numbers in paper.numbers.items():
            for times, number in zip(paper.theirs or paper.times, numbers, strict=True):
                yield paper.source, encoding, times, number


def in_issues() -> Iterator[Number]:
    for table in (table for issue in ISSUES.values() for table in issue.published):
        for name, row in table.rows.items():
            (number,) = row  # a source with several columns needs their lengths here
            yield table.source, NAMES[name], 2, number


def test_every_published_number_stands_in_its_source_at_that_length_and_none_is_left_out() -> None:
    read = sorted(in_the_sources(), key=lambda row: row[:3])
    assert sorted(in_the_table(), key=lambda row: row[:3]) == read
    assert {row[:3] for row in in_issues()} <= {row[:3] for row in read}
    assert all(row in read for row in in_issues())


def test_every_source_says_where_its_numbers_stand() -> None:
    for source, reading in READ_AGAIN.items():
        assert reading["place"], source
        assert set(reading["columns"]) <= ENCODINGS.keys()
