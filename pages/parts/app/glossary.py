"""The glossary's terms, and links to them from labels and help texts."""

from __future__ import annotations

import streamlit as st

from engine.foundation.glossary import OF_SETTING, TERMS, Term
from pages.parts.app.in_markdown import as_code

PAGE = "glossary"
"""The address of the glossary page, relative to every other page."""


def explained(text: str, term: str) -> str:
    """A help text with a link to the term: ``st.metric(..., help=explained("Mean over heads.", "entropy"))``."""
    return f"{text} [{TERMS[term].name}: glossary]({PAGE}?term={term})".strip()


def setting_help(name: str, text: str) -> str:
    """A setting's help, with a link to its term if it has one."""
    return explained(text, OF_SETTING[name]) if name in OF_SETTING else text


def show_terms(first: str | None, words: str, *, columns: int = 2) -> None:
    """The terms that have the ``words`` of a search in them; without a search all, and the one that is asked for first."""
    if first is not None and not words:
        _show(TERMS[first])
        st.header("All terms", anchor=False)
    found = [term for term in TERMS.values() if _matches(term, words) and (words or term.slug != first)]
    if not found:
        st.info(f"No term has {as_code(words)} in it.", icon=":material/search_off:")
    a_column = -(-len(found) // columns)
    for number, column in enumerate(st.columns(columns, gap="medium")):
        with column:
            for term in found[number * a_column : (number + 1) * a_column]:
                _show(term)


def _matches(term: Term, words: str) -> bool:
    return words.casefold() in f"{term.name} {term.text}".casefold()


def _show(term: Term) -> None:
    with st.container(border=True, key=f"term-{term.slug}"):
        st.markdown(f"**{term.name}**")
        st.markdown(term.text)
        if term.formula:
            st.latex(term.formula)
        if term.source:
            st.caption(term.source)
