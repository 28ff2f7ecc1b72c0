"""Tables for ``st.table``, whose cells may hold Markdown. Tables to sort, search and download use ``st.dataframe``."""

from collections.abc import Sequence

import pandas as pd
from pandas.io.formats.style import Styler
from pandas.io.formats.style_render import CSSDict

WHOLE: list[CSSDict] = [
    {"selector": "tbody div, tbody p", "props": "white-space: nowrap !important"},
    {"selector": "tbody td:first-of-type", "props": "padding-left: 1rem !important"},  # as its head
]
RIGHT: list[CSSDict] = [
    # Streamlit aligns text to the left by a style on each element.
    {"selector": "tbody td, thead th:not(:first-child)", "props": "text-align: right !important"},
]


def whole_lines(frame: pd.DataFrame, styles: Sequence[CSSDict] = ()) -> Styler:
    """The frame with cells that do not wrap: on a narrow phone the table scrolls sideways instead."""
    return frame.style.set_table_styles([*WHOLE, *styles])


def numbers_right(frame: pd.DataFrame) -> Styler:
    return whole_lines(frame, RIGHT)
