"""Text from readers and sentences from the engine on a page: escaped, so that they are shown as they are, and said where they belong; and
the glossary's terms, with links to them, which open its drawer."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import streamlit as st

from engine.foundation.background import BackgroundTask
from engine.foundation.errors import Explained, Refused
from engine.foundation.files import data_folder_problem
from engine.foundation.glossary import OF_SETTING, TERMS, Term
from engine.runs.run import Run
from engine.settings.errors import ConfigError, Problem, shown

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|$~:])")
READ_ANYWAY = re.compile(r"(?<=:)(?=\S)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
"""Where addresses (www., https://, @) and icons (:material/home:) are broken in two."""
UNSEEN = "\N{WORD JOINER}"
QUOTED = re.compile("“([^”]*)”")
BACKTICKS = re.compile("`+")


def escaped(text: str) -> str:
    """A short name, such as a token's or a title, with a backslash before each character that is special in Markdown.

    An address in it gets a character that nobody sees, and so does what stands between colons: Streamlit would else make a link or an
    icon of it, whatever is escaped.
    """
    return READ_ANYWAY.sub(UNSEEN, SPECIAL.sub(r"\\\1", text))


def as_code(given: str) -> str:
    """A reader's text as inline code, on one line and shortened; nothing in it can end the code.

    Streamlit leaves text alone only in inline code: elsewhere it makes links, addresses, formulas, colours and icons.
    """
    line = shown(given)
    fence = "`" * (1 + max(map(len, BACKTICKS.findall(line)), default=0))
    pad = " " if "`" in (line[0], line[-1]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def in_markdown(sentence: Problem | Exception | str) -> str:
    """The engine's sentence with the given values as inline code: the parts of a problem, or whatever stands in “quotes”."""
    match sentence:
        case Problem():
            return sentence.sentence(as_code, in_markdown)
        case ConfigError():
            return " ".join(map(in_markdown, sentence.problems))
        case Refused():  # its settings were checked before: the quotes hold titles of the app's own
            return str(sentence)
        case _:
            return QUOTED.sub(lambda found: as_code(found[1]), str(sentence))


def say_ignored(problems: Iterable[Problem]) -> None:
    """One warning for each thing in a link that was ignored."""
    for problem in problems:
        st.warning(f"From the link, {in_markdown(problem)} Ignored.", icon=":material/link_off:")


@contextmanager
def refused_in_words(where: str = "", error: type[Exception] = Explained) -> Iterator[None]:
    """Where what is done inside is refused, keep the sentence until :func:`show_refusal` shows it; nothing else changes. ``where``: the
    place on the page, if it has several. ``error``: whose message is such a sentence."""
    try:
        yield
    except error as refused:
        st.session_state[f"refused.{where}"] = in_markdown(refused)
    except OSError as failed:
        notice = data_folder_problem() or f"Could not save: {failed.strerror or 'unknown error'}."
        st.session_state[f"refused.{where}"] = in_markdown(notice)


def show_refusal(where: str = "", show: Callable[..., object] = st.error, icon: str = ":material/block:") -> None:
    """Why the last thing that was asked for here was refused, once."""
    if sentence := st.session_state.pop(f"refused.{where}", None):
        show(sentence, icon=icon)


def say_unsaved(kept: Run | BackgroundTask | None) -> None:
    """Say that a run, which goes on, or the result of a task is in memory only, so that its owner takes away what is worth keeping."""
    if kept is not None and kept.unsaved:
        lost = "It keeps running, but will be lost" if isinstance(kept, Run) else "It will be lost"
        notice = f"{kept.unsaved} {lost} if the server restarts. Download what you want to keep."
        st.warning(notice, icon=":material/save:")


# The glossary


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
        st.info(f"No term contains {as_code(words)}.", icon=":material/search_off:")
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
