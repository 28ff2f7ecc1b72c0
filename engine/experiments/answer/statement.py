"""What the answer is made of: sections of prose in which each statement names the claim that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.experiments.experiment import Claim
from engine.experiments.issues import ISSUES


@dataclass(frozen=True)
class Told:
    """A statement as a sentence. It says what its claim says, so that the claim's finding is the statement's own."""

    text: str
    """The sentence; Markdown."""
    issue: str
    """The slug of the issue."""
    claim: str
    """Words that stand in the sentence of one of the issue's claims only."""
    turned: bool = False
    """Whether the sentence leads from the claim's number after to the one before, as where something costs accuracy."""


Sentence = str | Told
"""A plain string says what the next statements are about; it states nothing that was measured."""


@dataclass(frozen=True)
class Paragraph:
    about: str
    """The subject in a word or two, with which it begins."""
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Section:
    heading: str
    anchor: str
    """The name of the section in a link to it."""
    lead: Told | None
    """The statement that answers for the section, told first and nowhere else in it; None where no single one does."""
    paragraphs: tuple[Paragraph, ...]


def statements(sections: Sequence[Section]) -> Iterator[Told]:
    """All statements in the order of the page."""
    for section in sections:
        if section.lead is not None:
            yield section.lead
        for paragraph in section.paragraphs:
            yield from (sentence for sentence in paragraph.sentences if isinstance(sentence, Told))


def claim_of(told: Told) -> Claim:
    """The claim that a statement rests on. Raises ValueError where the words stand in no claim or in several."""
    found = [claim for claim in ISSUES[told.issue].claims if told.claim in claim.sentence]
    if len(found) != 1:
        raise ValueError(
            f"claim is “{told.claim}”; allowed are words of one claim of {told.issue}, not of {len(found)}."
        )
    return found[0]
