"""The text of an issue: formulas."""

from __future__ import annotations

from pages.parts.issues.words import with_formulas_apart


def test_displayed_formulas_stand_in_paragraphs_of_their_own() -> None:
    assert with_formulas_apart("a $x$,\n$$b$$ c") == "a $x$,\n\n$$\nb\n$$\n\nc"
