"""Small tables as Markdown."""

from __future__ import annotations

from pages.parts.charts.table import table


def test_a_table_has_its_numbers_on_the_right() -> None:
    assert table(["", "loss"], [["model", "4.2"]]) == "||loss|\n|---|---:|\n|model|4.2|"
