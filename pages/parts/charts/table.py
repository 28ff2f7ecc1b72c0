"""Small tables as Markdown, whose cells may hold Markdown too. What people sort, search and download is ``st.dataframe``."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Every column but the first is aligned to the right."""
    line = "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|"
    return "\n".join(["|" + "|".join(head) + "|", line, *("|" + "|".join(row) + "|" for row in rows)])
