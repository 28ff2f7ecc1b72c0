"""Texts of readers and sentences of the engine on a page, escaped; refusals; and the glossary's terms with their links."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import streamlit as st

from engine.foundation.background import BackgroundTask
from engine.foundation.errors import Explained, Refused
from engine.foundation.files import data_folder_problem
from engine.foundation.glossary import TERM_OF_SETTING, TERMS, Term
from engine.runs.run import Run
from engine.settings.errors import ConfigError, Problem, excerpt

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|$~:])")
# where a character breaks addresses (www., https://, @) and icons (:material/home:)
READ_ANYWAY = re.compile(r"(?<=:)(?=\S)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
INVISIBLE = "\N{WORD JOINER}"
QUOTED = re.compile("“([^”]*)”")
BACKTICKS = re.compile("`+")


def escaped(text: str) -> str:
    """Escape a short name, such as a token's or a title, for Markdown.

    An invisible character breaks addresses and the text between colons: Streamlit makes links and icons of these, even
    if they are escaped.
    """
    return READ_ANYWAY.sub(INVISIBLE, SPECIAL.sub(r"\\\1", text))


def as_code(text: str) -> str:
    """Return a reader's text as inline code, on one line and shortened; nothing in it can end the code.

    Elsewhere Streamlit makes links, addresses, formulas, colours and icons of text.
    """
    line = excerpt(text)
    fence = "`" * (1 + max(map(len, BACKTICKS.findall(line)), default=0))
    pad = " " if "`" in (line[0], line[-1]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def in_markdown(sentence: Problem | Exception | str) -> str:
    """Return the engine's sentence with the values as inline code: the parts of a problem, or the text in “quotes”."""
    match sentence:
        case Problem():
            return sentence.sentence(as_code, in_markdown)
        case ConfigError():
            return " ".join(map(in_markdown, sentence.problems))
        case Refused():  # its quotes contain only titles of the app
            return str(sentence)
        case _:
            return QUOTED.sub(lambda match: as_code(match[1]), str(sentence))


def say_ignored(problems: Iterable[Problem]) -> None:
    for problem in problems:
        st.warning(f"Ignored in the link: {in_markdown(problem)}", icon=":material/link_off:")


@contextmanager
def refused_in_words(where: str = "", error: type[Exception] = Explained) -> Iterator[None]:
    """Catch a refusal inside the block for :func:`show_refusal`. ``where``: position of the message, if the page has
    several. ``error``: the exceptions whose message is a sentence for the reader."""
    try:
        yield
    except error as refused:
        st.session_state[f"refused.{where}"] = in_markdown(refused)
    except OSError as failed:
        notice = data_folder_problem() or f"Could not save: {failed.strerror or 'unknown error'}."
        st.session_state[f"refused.{where}"] = in_markdown(notice)


def show_refusal(where: str = "", icon: str = ":material/block:") -> None:
    if sentence := st.session_state.pop(f"refused.{where}", None):
        st.error(sentence, icon=icon)


def say_unsaved(work: Run | BackgroundTask | None) -> None:
    if work is not None and work.unsaved:
        loss = "It keeps running, but will be lost" if isinstance(work, Run) else "It will be lost"
        notice = f"{work.unsaved} {loss} if the server restarts. Download what you want to keep."
        st.warning(notice, icon=":material/save:")


# The glossary


PAGE = "glossary"  # relative to every page
# the parts of a Markdown text that never become links: escaped characters, TeX, code, links, icons
NOT_LINKED = r"\\.|\$\$.+?\$\$|\$.+?\$|(?P<fence>`+).+?(?P=fence)|!?\[[^\]]*\]\([^)]*\)|https?://\S+|:material/\w+:"


def explained(text: str, term: str) -> str:
    """Append a link to the term to a help text: ``st.metric(..., help=explained("Mean over heads.", "entropy"))``."""
    return f"{text} [{TERMS[term].name}: glossary]({PAGE}?term={term})".strip()


def setting_help(name: str, text: str) -> str:
    return explained(text, TERM_OF_SETTING[name]) if name in TERM_OF_SETTING else text


def show_terms(first: str | None, words: str) -> None:
    """Show the terms that contain ``words``; without ``words`` all terms, ``first`` before the others."""
    if first is not None and not words:
        _show(TERMS[first])
        st.header("All terms", anchor=False)
    matches = [term for term in TERMS.values() if words.casefold() in f"{term.name} {term.text}".casefold()]
    ordered = sorted((term for term in matches if words or term.slug != first), key=lambda term: term.name.casefold())
    if not ordered:
        st.info(f"No term contains {as_code(words)}.", icon=":material/search_off:")
    for term in ordered:
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
    """Return the Markdown texts of one page, with the first occurrence of each term as a link.

    A term matches by its name, regardless of case and with a plural s, or by one of its other words.
    """
    linked_slugs: set[str] = set()

    def with_link(match: re.Match[str]) -> str:
        term = _term_of(match)
        if term is None or term.slug in linked_slugs:
            return match[0]
        linked_slugs.add(term.slug)
        return f"[{match[0]}]({PAGE}?term={term.slug})"

    return [_PATTERN.sub(with_link, text) for text in texts]


def links_to_terms(*texts: str) -> str:
    matches = (_term_of(part) for text in texts for part in _PATTERN.finditer(text))
    terms = dict.fromkeys(term for term in matches if term is not None)
    return ", ".join(f"[{term.name}]({PAGE}?term={term.slug})" for term in terms)


def _words_of(term: Term) -> list[str]:
    """Return the words that mean a term: "Loss (cross-entropy)" has two names."""
    name, _, other = term.name.rstrip(")").partition(" (")
    return [word for word in (name, other, *term.words) if word]


def _term_of(match: re.Match[str]) -> Term | None:
    """Return the term of a match; None for a part that never becomes a link."""
    word = match["term"]
    return _BY_WORD[" ".join(word.casefold().split())] if word else None


_BY_WORD = {word.casefold(): term for term in TERMS.values() for word in _words_of(term)}
_LONGEST_FIRST = sorted(_BY_WORD, key=len, reverse=True)
_ANY = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in _LONGEST_FIRST)
_PATTERN = re.compile(rf"{NOT_LINKED}|(?<![\w-])(?P<term>{_ANY})s?(?![\w-])", re.DOTALL | re.IGNORECASE)
