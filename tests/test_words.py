"""The words of the project: sentences are short, and say things by their plain names. ``words.toml`` beside it has the rules."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.words import Text, counted, sentences, texts

RULES = tomllib.loads(Path(__file__).with_suffix("").with_name("words.toml").read_text("utf-8"))
EXCEPTIONS = RULES["exceptions"]


def excepted(text: Text, words: str) -> bool:
    return any(text.file.startswith(one["file"]) and one["words"] in words for one in EXCEPTIONS)


def banned(text: Text) -> Iterator[str]:
    """A line for each banned word of a text, with the better one."""
    lists = RULES["banned"] if text.kind != "docstring" else {}
    for pattern, better in (lists.get("everywhere", {}) | lists.get(text.kind, {})).items():
        for found in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", text.words, re.IGNORECASE):
            piece = " ".join(text.words[max(0, found.start() - 40) : found.end() + 40].split())
            if not excepted(text, text.words):
                yield f"{text.file}:{text.line}: “{found[0]}” in “{piece}”; better: {better}"


def bad_openings(text: Text) -> Iterator[str]:
    for opening, folders in RULES["openings"].items() if text.kind == "docstring" else ():
        if (
            re.match(rf"(?:{opening})\b", text.words)
            and text.file.startswith(tuple(folders))
            and not excepted(text, text.words)
        ):
            yield f"{text.file}:{text.line}: “{text.words}”; better: a noun, or a verb such as Return"


def long_sentences(text: Text) -> Iterator[str]:
    longest = RULES["longest"].get(text.kind)
    for sentence in sentences(text.words) if longest else ():
        if counted(sentence) > longest and not excepted(text, sentence):
            yield f"{text.file}:{text.line}: {counted(sentence)} words where {longest} are allowed: {sentence}"


def test_no_text_has_a_word_for_which_there_is_a_plainer_one() -> None:
    found = [line for text in texts() for line in (*banned(text), *bad_openings(text))]
    assert not found, "\n".join(found)


def test_sentences_are_short() -> None:
    found = [line for text in texts() for line in long_sentences(text)]
    assert not found, "\n".join(found)


def test_the_rules_find_what_they_ban() -> None:
    text = Text("screen", "pages/a.py", 3, f"Look at the wall. {'One more word ' * 6}.")
    assert next(banned(text)).startswith("pages/a.py:3: “the wall” in “Look at the wall. One")
    assert next(banned(text)).endswith("better: the projector")
    docstring = Text("docstring", "pages/a.py", 3, "Whether it runs.")
    assert next(bad_openings(docstring)) == "pages/a.py:3: “Whether it runs.”; better: a noun, or a verb such as Return"
    assert next(long_sentences(text)).startswith("pages/a.py:3: 18 words where 15 are allowed: One more word")


def test_every_exception_is_still_needed() -> None:
    """An exception whose sentence is gone or mended leaves, too."""
    for one in EXCEPTIONS:
        assert one["why"]
        assert any(
            text.file.startswith(one["file"]) and one["words"] in " ".join(text.words.split()) for text in texts()
        ), one
