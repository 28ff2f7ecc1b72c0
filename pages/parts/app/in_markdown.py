"""Text from readers and sentences from the engine on a page: escaped, so that they are shown as they are, and said where they belong."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import streamlit as st

from engine.foundation.background import BackgroundTask
from engine.foundation.errors import Explained, Refused
from engine.foundation.files import data_folder_problem
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


def in_markdown(said: Problem | Exception | str) -> str:
    """The engine's sentence with the given values as inline code: the parts of a problem, or whatever stands in “quotes”."""
    match said:
        case Problem():
            return said.sentence(as_code, in_markdown)
        case ConfigError():
            return " ".join(map(in_markdown, said.problems))
        case Refused():  # its settings were checked before: the quotes hold titles of the app's own
            return str(said)
        case _:
            return QUOTED.sub(lambda found: as_code(found[1]), str(said))


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
        told = data_folder_problem() or f"The disk does not take it: {failed.strerror or 'unknown error'}."
        st.session_state[f"refused.{where}"] = in_markdown(told)


def show_refusal(where: str = "", show: Callable[..., object] = st.error, icon: str = ":material/block:") -> None:
    """Why the last thing that was asked for here was refused, once."""
    if sentence := st.session_state.pop(f"refused.{where}", None):
        show(sentence, icon=icon)


def say_unsaved(kept: Run | BackgroundTask | None) -> None:
    """Say that a run, which goes on, or the result of a task is in memory only, so that its owner takes away what is worth keeping."""
    if kept is not None and kept.unsaved:
        gone = "It goes on, but it is gone" if isinstance(kept, Run) else "It is gone"
        told = f"{kept.unsaved} {gone} when the app is started anew: download what you want to keep."
        st.warning(told, icon=":material/save:")
