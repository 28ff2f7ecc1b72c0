"""Small tables as Markdown, whose cells may hold Markdown too. Tables to sort, search and download use ``st.dataframe``."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table in which every column but the first is aligned to the right."""
    line = "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|"
    return "\n".join(["|" + "|".join(head) + "|", line, *("|" + "|".join(row) + "|" for row in rows)])
