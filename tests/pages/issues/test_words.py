"""The text of an issue: formulas and sources."""

from __future__ import annotations

import pytest

from pages.parts.issues.words import sources_in_words, with_formulas_apart


def test_displayed_formulas_stand_in_paragraphs_of_their_own() -> None:
    assert with_formulas_apart("a $x$,\n$$b$$ c") == "a $x$,\n\n$$\nb\n$$\n\nc"


@pytest.mark.parametrize("last", ["What Do They Learn?", "How to Scale"])
def test_the_sources_are_one_sentence(last: str) -> None:
    assert sources_in_words(("A 2017", last))[-2:] in ("n?", "e.")
