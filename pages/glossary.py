"""The address of a term, as links have it: it leads to the start page, with the glossary open there at the term."""

import streamlit as st

from pages.parts.app.frame import FIRST, open_glossary

open_glossary(st.query_params.get("term", ""))
st.switch_page(FIRST.file)
