"""Characters and words against what they should be."""

import pytest

from engine.text.tokens import UNKNOWN_NAME, Unit, is_word, joined, pieces, vocabulary_of

TEXT = "To be, or not to be:\nthat is the question."


@pytest.mark.parametrize("text", [TEXT, " begins and ends with a space ", "two  spaces", "", " ", "-- dash --\n\nO!"])
@pytest.mark.parametrize("unit", ["characters", "words"])
def test_pieces_joined_are_the_text(text: str, unit: Unit) -> None:
    assert joined(pieces(text, unit), unit) == text


def test_words_are_split_at_their_boundaries_and_told_from_what_stands_between() -> None:
    assert pieces("To be, or  not", "words") == ["To", "be", ", ", "or", "  ", "not"]
    assert [piece for piece in pieces(TEXT, "words") if not is_word(piece)] == [", ", ":\n", "."]


def test_the_commonest_are_numbered_the_same_every_time_with_visible_names() -> None:
    vocabulary = vocabulary_of([list("aabbbc")], 3)
    assert vocabulary.numbers == {"b": 1, "a": 2}
    assert vocabulary.encode("abcz").tolist() == [2, 1, 0, 0]
    assert vocabulary.names(5) == (UNKNOWN_NAME, "b", "a", UNKNOWN_NAME, UNKNOWN_NAME)
    assert vocabulary_of(["ba", "ab"], 10).numbers == vocabulary_of(["ab", "ba"], 10).numbers
    assert vocabulary_of([[" ", "a", ",\n"]], 4).names(4) == (UNKNOWN_NAME, "␣", ",↵", "a")
