"""The text of an issue as it is read from its Markdown file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.experiments.experiment import Claim, difference
from engine.experiments.issues.issue import Source
from engine.experiments.issues.written import HEADINGS, worded, written

TEXT = """# A title

Two lines
of a summary.

## Why it happens

A formula $x_1$:
$$x = 1$$

- and a list

## What helps

- A remedy
  over two lines.
- Another.

## What is claimed

- `first`: It is more. *at 8
  layers*
- `second`: It is less.

## How it is measured

## Sources

- [Somebody 2020, A paper (section 3)](https://example.org/a)
"""


def text_of(folder: Path, text: str) -> str:
    (folder / "one.md").write_text(text)
    return str(folder / "one.py")


def test_each_heading_gives_its_part(tmp_path: Path) -> None:
    assert written(text_of(tmp_path, TEXT)) == {
        "title": "A title",
        "summary": "Two lines of a summary.",
        "mechanism": "\nA formula $x_1$:\n$$x = 1$$\n\n- and a list\n\n",
        "remedies": ("A remedy over two lines.", "Another."),
        "notes": (),
        "sources": (Source("Somebody 2020, A paper (section 3)", "https://example.org/a"),),
    }


def test_each_claim_has_its_sentence_and_condition(tmp_path: Path) -> None:
    module = text_of(tmp_path, TEXT)
    first, second = (Claim(name, difference("a", "b", "loss"), "nats", 0.1) for name in ("first", "second"))
    assert [(claim.sentence, claim.condition) for claim in worded(module, first, second)] == [
        ("It is more.", "at 8 layers"), ("It is less.", ""),
    ]  # fmt: skip
    for others in ((first,), (second, first), (first, second, replace(first, id="third"))):
        with pytest.raises(ValueError, match="must word the claims"):
            worded(module, *others)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (TEXT.replace("# A title\n", "", 1), "one.md must have a title"),
        (TEXT.replace("## Sources", "## Books"), ", ".join(HEADINGS)),
        (TEXT.replace("## What helps", "Words"), "in this order"),
        (TEXT.replace("[Somebody", "Somebody"), "the source “Somebody 2020"),
    ],
)
def test_a_file_of_another_form_is_refused_in_one_sentence(tmp_path: Path, wrong: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        written(text_of(tmp_path, wrong))
