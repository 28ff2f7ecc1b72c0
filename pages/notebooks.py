"""The page of notebooks: classic exercises, each on a page of its own."""

from __future__ import annotations

import streamlit as st

from pages.parts.app.address import take_link, write_link
from pages.parts.app.in_markdown import say_ignored
from pages.parts.notebooks.address import read
from pages.parts.notebooks.overview import NOTEBOOK_PAGE, show_overview

query = take_link("notebooks") or {}
asked = read(query)
if asked.notebook is not None:  # an older form of link
    st.switch_page(NOTEBOOK_PAGE, query_params=query)
say_ignored(asked.ignored)
show_overview()
write_link("notebooks", {})
