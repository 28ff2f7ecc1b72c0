"""The key figure of every issue: the names of its rows."""

from __future__ import annotations

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.key_figure import key_figure
from pages.parts.charts.experiments.strip import Ended


@pytest.mark.parametrize("issue", ISSUES.values(), ids=ISSUES.keys())
def test_a_rows_name_takes_two_lines_at_most(issue: Issue) -> None:
    """A third line would meet the row beside it in the large letters of a room."""
    rows = [Ended(row.label, role_color(issue.arm(row.arm).role), [], []) for row in issue.key_figure.rows]
    names = key_figure(rows, issue.key_figure.scale, share=True).layout.yaxis.ticktext
    assert [name.replace("<br>", " ") for name in names] == [row.label for row in issue.key_figure.rows]
    assert max(name.count("<br>") for name in names) <= 1
