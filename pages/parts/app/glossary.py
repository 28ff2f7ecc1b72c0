"""Links from labels and help texts to the glossary."""

from __future__ import annotations

from engine.foundation.glossary import OF_SETTING, TERMS

PAGE = "glossary"
"""The address of the glossary page, relative to every other page."""


def explained(text: str, term: str) -> str:
    """A help text with a link to the term: ``st.metric(..., help=explained("Mean over heads.", "entropy"))``."""
    return f"{text} [{TERMS[term].name}: glossary]({PAGE}?term={term})".strip()


def setting_help(name: str, text: str) -> str:
    """A setting's help, with a link to its term if it has one."""
    return explained(text, OF_SETTING[name]) if name in OF_SETTING else text
