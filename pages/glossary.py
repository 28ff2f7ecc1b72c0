"""The glossary page: every term of the app in plain sentences; labels, help texts and figures link here."""

from __future__ import annotations

import streamlit as st

from engine.foundation.glossary import TERMS, Term
from engine.settings.errors import Problem
from pages.parts.app.in_markdown import as_code, say_ignored

TERM = "term"
SEARCH = "glossary.search"


def matches(term: Term, words: str) -> bool:
    return words.casefold() in f"{term.name} {term.text}".casefold()


def show(term: Term) -> None:
    with st.container(border=True, key=f"term-{term.slug}"):
        st.markdown(f"**{term.name}**")
        st.markdown(term.text)
        if term.formula:
            st.latex(term.formula)
        if term.source:
            st.caption(term.source)


st.title("Glossary", anchor=False)
asked = st.query_params.get(TERM)
if asked is not None and asked not in TERMS:
    say_ignored([Problem(TERM, asked, "one of " + ", ".join(TERMS))])
    asked = None
words = st.text_input("Search", key=SEARCH, placeholder="for example mask", persist_state="session")
if asked is not None and not words:
    show(TERMS[asked])
    st.subheader("All terms", anchor=False)
found = [term for term in TERMS.values() if matches(term, words) and (words or term.slug != asked)]
if not found:
    st.info(f"No term has {as_code(words)} in it.", icon=":material/search_off:")
left, right = st.columns(2, gap="medium")
half = -(-len(found) // 2)
for column, terms in ((left, found[:half]), (right, found[half:])):
    with column:
        for term in terms:
            show(term)
