"""The text of an issue as it is read from its Markdown file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.experiments.issues.issue import Source
from engine.experiments.issues.written import HEADINGS, written

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
