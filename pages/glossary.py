"""The glossary page: every term of the app in plain sentences; labels, help texts and figures link here."""

import streamlit as st

from engine.foundation.glossary import TERMS
from engine.settings.errors import not_one_of
from engine.settings.names import meant
from pages.parts.app.glossary import show_terms
from pages.parts.app.in_markdown import say_ignored

TERM = "term"
SEARCH = "glossary.search"

st.title("Glossary", anchor=False)
asked = st.query_params.get(TERM)
asked = asked if asked is None else meant(asked, TERMS)
if asked is not None and asked not in TERMS:
    say_ignored([not_one_of(TERM, asked, TERMS)])
    asked = None
words = st.text_input("Search", key=SEARCH, placeholder="for example mask", persist_state="session")
show_terms(asked, words)
