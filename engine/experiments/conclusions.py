"""The conclusions, which answer the question of the documents, as prose over the claims of the issues.

The text is ``conclusions.md``. A sentence begins on a line of its own, and its further lines are indented. A sentence that states something
ends in the issue and the id of the claim on which it rests, in brackets; the finding and the numbers are read from the evidence
(:mod:`engine.experiments.evidence.shipped`), so the text holds neither.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.experiments.experiment import Claim
from engine.experiments.issues import ISSUES
from engine.foundation.tables import one_line

HEADING = re.compile(r"(.+) \{#([\w-]+): (.+)\}")
STATEMENT = re.compile(r"(.+) \[([\w-]+)/([\w-]+)( turned)?\]")


@dataclass(frozen=True)
class Statement:
    """A sentence that says the same as its claim, so the finding on the claim is also the finding on it."""

    text: str
    """Markdown."""
    issue: str
    claim: str
    turned: bool = False
    """True if the sentence states the change in the other direction, from the number after to the number before, as for a
    change that costs accuracy."""


# a plain string is the subject of the next statements; it states nothing that was measured
Sentence = str | Statement


@dataclass(frozen=True)
class Paragraph:
    about: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Section:
    heading: str
    anchor: str
    short: str
    """The heading in a few words, as they follow "where"."""
    lead: Statement
    """The statement that sums up the section; its paragraphs do not repeat it. The key figure and the remedy of its issue
    are next to it."""
    paragraphs: tuple[Paragraph, ...]


def statements(sections: Sequence[Section]) -> Iterator[Statement]:
    for section in sections:
        yield section.lead
        for paragraph in section.paragraphs:
            yield from (sentence for sentence in paragraph.sentences if isinstance(sentence, Statement))


def claim_of(statement: Statement) -> Claim:
    return ISSUES[statement.issue].claim(statement.claim)


def read(text: str) -> tuple[str, tuple[Section, ...]]:
    """The question and the sections of an answer. Raises ValueError with one sentence if a statement rests on no claim."""
    question, *sections = re.split(r"^##? ", text, flags=re.MULTILINE)[1:]
    return question.strip(), tuple(map(_section, sections))


def _section(text: str) -> Section:
    title, first, *blocks = text.strip().split("\n\n")
    heading, lead = HEADING.fullmatch(title), _sentence(one_line(first))
    if heading is None or not isinstance(lead, Statement):
        raise ValueError(f"“{title}” in the answer must end in {{#name: where it is so}}; a statement comes next.")
    return Section(heading[1], heading[2], heading[3], lead, tuple(map(_paragraph, blocks)))


def _paragraph(text: str) -> Paragraph:
    about, _, rest = text.removeprefix("**").partition("** ")
    return Paragraph(about, tuple(_sentence(one_line(sentence)) for sentence in re.split(r"\n(?! )", rest)))


def _sentence(text: str) -> Sentence:
    match = STATEMENT.fullmatch(text)
    if match is None:
        return text
    statement = Statement(match[1], match[2], match[3], bool(match[4]))
    if statement.issue not in ISSUES or all(claim.id != statement.claim for claim in ISSUES[statement.issue].claims):
        raise ValueError(
            f"The sentence “{statement.text}” of the answer rests on {statement.issue}/{statement.claim}; there is none."
        )
    return statement


QUESTION, CONCLUSIONS = read(Path(__file__).with_suffix(".md").read_text("utf-8"))
