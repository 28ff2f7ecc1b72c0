"""Small tables as Markdown and as data frames."""

from __future__ import annotations

import pandas as pd

from pages.parts.charts.table import numbers_right, table


def test_a_table_has_its_numbers_on_the_right() -> None:
    assert table(["", "loss"], [["model", "4.2"]]) == "||loss|\n|---|---:|\n|model|4.2|"


def test_the_columns_of_a_frame_and_their_heads_stand_on_the_right() -> None:
    html = numbers_right(pd.DataFrame({"loss": ["4.2"]}, index=["model"])).set_uuid("x").to_html()
    style = html.partition("</style>")[0]
    aligned = [" ".join(rule.split()) for rule in style.split("}") if "text-align: right" in rule]
    assert any("#T_x tbody td {" in rule for rule in aligned)
    assert any("#T_x thead th:not(:first-child) {" in rule for rule in aligned)
