"""Tables without pandas, which Plotly must not meet half imported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.parts.charts.table import table


def test_a_table_has_its_numbers_on_the_right() -> None:
    assert table(["", "loss"], [["model", "4.2"]]) == "||loss|\n|---|---:|\n|model|4.2|"


@pytest.mark.parametrize("path", sorted(Path("pages").rglob("*.py")), ids=str)
def test_no_page_brings_pandas_into_the_servers_process(path: Path) -> None:
    bringing = (
        r"(?m)^ *import pandas|st\.(table|dataframe|data_editor|line_chart|bar_chart|area_chart|scatter_chart|map)\("
    )
    assert not re.search(bringing, path.read_text("utf-8"))
