"""Tables as Markdown. Streamlit's own would import pandas: 60 MB in the page's process and, in the second that it takes, an
error in every figure that somebody else's page draws, since Plotly meets a half imported module.
"""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Every column but the first is aligned to the right."""
    line = "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|"
    return "\n".join(["|" + "|".join(head) + "|", line, *("|" + "|".join(row) + "|" for row in rows)])
