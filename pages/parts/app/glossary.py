"""The glossary's terms, and links to them from labels, help texts and the words of a text; on a page they open its drawer."""

import re

import streamlit as st

from engine.foundation.glossary import OF_SETTING, TERMS, Term
from pages.parts.app.in_markdown import as_code

PAGE = "glossary"
"""The address of the glossary, relative to every page."""
KEPT = r"\\.|\$\$.+?\$\$|\$.+?\$|(?P<fence>`+).+?(?P=fence)|!?\[[^\]]*\]\([^)]*\)|https?://\S+|:material/\w+:"
"""The parts of a Markdown text that are left alone: escaped characters, TeX, code, links, icons."""


def explained(text: str, term: str) -> str:
    """A help text with a link to the term: ``st.metric(..., help=explained("Mean over heads.", "entropy"))``."""
    return f"{text} [{TERMS[term].name}: glossary]({PAGE}?term={term})".strip()


def setting_help(name: str, text: str) -> str:
    """A setting's help, with a link to its term if it has one."""
    return explained(text, OF_SETTING[name]) if name in OF_SETTING else text


def show_terms(first: str | None, words: str) -> None:
    """The terms that have the ``words`` of a search in them; without a search all, and the one that is asked for first."""
    if first is not None and not words:
        _show(TERMS[first])
        st.header("All terms", anchor=False)
    sought = [term for term in TERMS.values() if words.casefold() in f"{term.name} {term.text}".casefold()]
    found = sorted((term for term in sought if words or term.slug != first), key=lambda term: term.name.casefold())
    if not found:
        st.info(f"No term has {as_code(words)} in it.", icon=":material/search_off:")
    for term in found:
        _show(term)


def _show(term: Term) -> None:
    with st.container(key=f"term-{term.slug}", gap="xsmall"):
        st.header(term.name, anchor=term.slug)
        st.markdown(term.text)
        if term.formula:
            st.latex(term.formula)
        if term.source:
            st.caption(term.source)


def with_terms(*texts: str) -> list[str]:
    """The Markdown texts of one page in which the first occurrence of each term is a link to it.

    Terms go by their name, without regard to case and with a plural s, or by one of their other words.
    """
    met: set[str] = set()

    def linked(found: re.Match[str]) -> str:
        term = _term_of(found)
        if term is None or term.slug in met:
            return found[0]
        met.add(term.slug)
        return f"[{found[0]}]({PAGE}?term={term.slug})"

    return [_PATTERN.sub(linked, text) for text in texts]


def links_to_terms(*texts: str) -> str:
    """A link to each term of the texts, in Markdown; empty where they have none."""
    found = (_term_of(part) for text in texts for part in _PATTERN.finditer(text))
    terms = dict.fromkeys(term for term in found if term is not None)
    return ", ".join(f"[{term.name}]({PAGE}?term={term.slug})" for term in terms)


def _words_of(term: Term) -> list[str]:
    """The words that stand for a term: "Loss (cross-entropy)" has two names."""
    name, _, other = term.name.rstrip(")").partition(" (")
    return [word for word in (name, other, *term.words) if word]


def _term_of(found: re.Match[str]) -> Term | None:
    """The term that was found; None for a part that is left alone."""
    word = found["term"]
    return _BY_WORD[" ".join(word.casefold().split())] if word else None


_BY_WORD = {word.casefold(): term for term in TERMS.values() for word in _words_of(term)}
_LONGEST_FIRST = sorted(_BY_WORD, key=len, reverse=True)
_ANY = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in _LONGEST_FIRST)
_PATTERN = re.compile(rf"{KEPT}|(?<![\w-])(?P<term>{_ANY})s?(?![\w-])", re.DOTALL | re.IGNORECASE)
