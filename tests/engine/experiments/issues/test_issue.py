"""An issue as it is read from its module and the Markdown file beside it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.experiments.experiment import Claim, difference
from engine.experiments.issues.issue import HEADINGS, Issue, Source, read_issue
from engine.experiments.key_figure import KeyFigure, Row

TEXT = """+++
[key_figure]
claim = "first"
sample = "reads 1"
question = \"\"\"
More over
two lines?\"\"\"
quantity = "Loss"
subject = "the loss"
change = "With it"
rows = [["before", "b", "loss"], ["after", "a", "loss"]]
remedy = "Do it."

[[published]]
source = "Somebody 2020"
what = "Losses."
columns = ["8"]
[published.rows]
"a" = [0.5]
[published.ours]
"a" = [["a", "loss"]]
+++

# A title

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

- `first` in `nats (a: b)`: It is more. *at 8
  layers*
- `second` (condition) in `nats`: It is less.

## How it is measured

## Sources

- [Somebody 2020, A paper (section 3)](https://example.org/a)
"""
FIRST, SECOND = (Claim(name, difference("a", "b", "loss"), 0.1) for name in ("first", "second"))


def issue_of(folder: Path, text: str, *claims: Claim) -> Issue:
    (folder / "depth").mkdir(exist_ok=True)
    module = folder / "depth" / "one_more.py"
    module.with_suffix(".md").write_text(text)
    return read_issue(str(module), base={"steps": 1}, arms=(), claims=claims, x_label="Layers")


def test_each_heading_gives_its_part(tmp_path: Path) -> None:
    issue = issue_of(tmp_path, TEXT, FIRST, SECOND)
    assert (issue.slug, issue.group, issue.base, issue.x_label) == ("one-more", "depth", {"steps": 1}, "Layers")
    assert (issue.title, issue.summary) == ("A title", "Two lines of a summary.")
    assert issue.mechanism == "\nA formula $x_1$:\n$$x = 1$$\n\n- and a list\n\n"
    assert (issue.remedies, issue.notes) == (("A remedy over two lines.", "Another."), ())
    assert issue.sources == (Source("Somebody 2020, A paper (section 3)", "https://example.org/a"),)
    assert issue.key_figure == KeyFigure(
        claim="first", sample="reads 1", question="More over two lines?", quantity="Loss", subject="the loss", change="With it",
        rows=(Row("before", "b", "loss"), Row("after", "a", "loss")), remedy="Do it.",
    )  # fmt: skip
    (table,) = issue.published
    assert (table.rows, table.ours) == ({"a": (0.5,)}, {"a": (("a", "loss"),)})
    words = [(claim.id, claim.about, claim.unit, claim.sentence, claim.condition) for claim in issue.claims]
    assert words == [
        ("first", "issue", "nats (a: b)", "It is more.", "at 8 layers"), ("second", "condition", "nats", "It is less.", ""),
    ]  # fmt: skip


def test_claims_that_are_not_worded_one_by_one_are_refused(tmp_path: Path) -> None:
    for others in ((FIRST,), (SECOND, FIRST), (FIRST, SECOND, replace(FIRST, id="third"))):
        with pytest.raises(ValueError, match="must word the claims"):
            issue_of(tmp_path, TEXT, *others)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (TEXT.replace("# A title\n", "", 1), "one_more.md must have TOML between lines of +++, a title"),
        (TEXT.removeprefix("+++"), "TOML between lines of +++"),
        (TEXT.replace("## Sources", "## Books"), ", ".join(HEADINGS)),
        (TEXT.replace("## What helps", "Words"), "in this order"),
        (TEXT.replace("[Somebody", "Somebody"), "the source “Somebody 2020"),
        (TEXT.replace(" in `nats`", ""), "each with its unit"),
        (TEXT.replace("remedy = ", "rmedy = "), "one_more.md: a KeyFigure has no rmedy."),
    ],
)
def test_a_file_of_another_form_is_refused_in_one_sentence(tmp_path: Path, wrong: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        issue_of(tmp_path, wrong, FIRST, SECOND)
