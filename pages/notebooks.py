"""The page of notebooks: classic exercises, each on a page of its own."""

import streamlit as st

from pages.parts.app.in_markdown import say_ignored
from pages.parts.notebooks.screen import NOTEBOOK_PAGE, OVERVIEW, show_overview

if "notebook" in st.query_params:  # each notebook once was shown here, by the link that its own page reads now
    st.switch_page(NOTEBOOK_PAGE, query_params=st.query_params.to_dict())
say_ignored(OVERVIEW.open_address()[1])
show_overview()
OVERVIEW.write_address({})
