"""Other people's words in Markdown: shown as they are, never read as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

import streamlit as st

from engine.settings.errors import ConfigError, Problem, shown
from engine.workers.pool import Refused

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|$~:])")
QUOTED = re.compile("“([^”]*)”")
BACKTICKS = re.compile("`+")


def escaped(text: str) -> str:
    """A short name, such as a token's or an arm's, with a backslash before each sign that Markdown could read.

    Not for text of a length that a reader chooses: Streamlit turns an address in it into a link all the same.
    """
    return SPECIAL.sub(r"\\\1", text)


def as_code(given: str) -> str:
    """What a reader gave as inline code, in one line and shortened; nothing in it can end the code.

    Only in inline code does Streamlit leave everything alone: links, addresses, formulas, colours and icons.
    """
    line = shown(given)
    fence = "`" * (1 + max(map(len, BACKTICKS.findall(line)), default=0))
    pad = " " if "`" in (line[0], line[-1]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def in_markdown(said: Problem | Exception | str) -> str:
    """The engine's sentence with what was given as inline code: the parts of a problem, or whatever stands in “quotes”."""
    match said:
        case Problem():
            return f"{as_code(said.setting)} is {as_code(said.given)}; allowed is {in_markdown(said.allowed)}."
        case ConfigError():
            return " ".join(map(in_markdown, said.problems))
        case Refused():  # of settings that were checked before: in quotes stand titles of the app's own
            return str(said)
        case _:
            return QUOTED.sub(lambda found: as_code(found[1]), str(said))


def say_ignored(problems: Iterable[Problem]) -> None:
    """One warning for each thing in a link that was ignored."""
    for problem in problems:
        st.warning(f"From the link, {in_markdown(problem)} Ignored.", icon=":material/link_off:")
