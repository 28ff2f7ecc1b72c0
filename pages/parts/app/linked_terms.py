"""Links from the words of a text to their terms in the glossary; on a page they open its drawer."""

from __future__ import annotations

import re

from engine.foundation.glossary import TERMS, Term
from pages.parts.app.glossary import PAGE

KEPT = r"\\.|\$\$.+?\$\$|\$.+?\$|(?P<fence>`+).+?(?P=fence)|!?\[[^\]]*\]\([^)]*\)|https?://\S+|:material/\w+:"
"""The parts of a Markdown text that are left alone: escaped characters, TeX, code, links, icons."""


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
