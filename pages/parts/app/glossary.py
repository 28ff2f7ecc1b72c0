"""Ways from a label to the glossary."""

from __future__ import annotations

from engine.foundation.glossary import OF_SETTING, TERMS

PAGE = "glossary"
"""The page's address, which lies beside every other page's."""


def explained(text: str, term: str) -> str:
    """A help text with a way to the term: ``st.metric(..., help=explained("Mean over heads.", "entropy"))``."""
    return f"{text} [{TERMS[term].name}: glossary]({PAGE}?term={term})".strip()


def setting_help(name: str, text: str) -> str:
    """A setting's help, with a way to its term where it has one."""
    return explained(text, OF_SETTING[name]) if name in OF_SETTING else text
