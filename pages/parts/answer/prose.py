"""The answer as Markdown, paragraphs whose statements end in a mark; a mark is a link that opens the issue in the reader's session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import streamlit as st

from engine.experiments.answer import Paragraph, Section, Sentence, Told, claim_of
from engine.experiments.evidence.shipped import ShippedClaim, shipped_claims
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import ZERO, number
from engine.experiments.statistics import Finding
from engine.foundation.formatting import counted
from pages.parts.app.frame import listening_script, nothing
from pages.parts.app.glossary import with_terms
from pages.parts.app.in_markdown import escaped
from pages.parts.stage.claims import badge, signed

LINK = "#issue="
"""What a link to an issue begins with. Streamlit opens a link that leaves the page in a tab of its own; this one stays on the page, whose
script opens the issue (``links.js``), also where it was followed before the script was there."""
NATS = "nats"
FILE = "issues.py"


@cache
def found_of(slug: str) -> tuple[ShippedClaim, ...]:
    """What the shipped evidence says about the claims of an issue."""
    return tuple(shipped_claims(ISSUES[slug]))


def found_for(told: Told) -> ShippedClaim | None:
    """What the shipped evidence says about a statement."""
    claim = claim_of(told)
    return next((one for one in found_of(told.issue) if one.claim == claim), None)


def prose(sections: Sequence[Section]) -> list[list[str]]:
    """The paragraphs of each section, in Markdown; a term is linked where it stands first."""
    sentences = [one for section in sections for paragraph in section.paragraphs for one in paragraph.sentences]
    texts = iter(with_terms(*map(_text, sentences)))
    return [[_paragraph(one, texts) for one in section.paragraphs] for section in sections]


def mark(told: Told) -> str:
    """The mark of a statement: the finding and its numbers, as a link to the issue; empty where nothing was shipped.

    Who points at it sees the claim as it was tested.
    """
    claim, found = claim_of(told), found_for(told)
    if found is None:
        return ""
    tested = f"{claim.sentence} ({claim.condition})" if claim.condition else claim.sentence
    words = badge(found.finding, found.finding.words)
    return f'[{words} {numbers(found, turned=told.turned)}]({LINK}{told.issue} "{tested}")'


def numbers(found: ShippedClaim, *, turned: bool = False) -> str:
    """The effect as two numbers, or where these were not stored as it is, and how many seeds agree with its sign."""
    seeds, unit = counted(found.seeds, "seed"), found.claim.unit
    over = f"over {seeds}" if found.finding is Finding.NONE else f"in {found.agreeing} of {seeds}"
    if found.sides is None:
        return f"{signed(found.effect)} {escaped(unit)}, {over}"
    before, after = map(_written, reversed(found.sides) if turned else found.sides)
    return f"{before}\u00a0→\u00a0{after}{f' {NATS}' if unit.startswith(NATS) else ''} {over}"


def _written(value: float) -> str:
    return "0" if abs(value) < ZERO else number(value).replace("-", "−")


def _paragraph(paragraph: Paragraph, texts: Iterator[str]) -> str:
    """``texts``: those of its sentences come next."""
    parts = [f"**{paragraph.about}**"]
    for sentence in paragraph.sentences:
        parts += [next(texts), mark(sentence)] if isinstance(sentence, Told) else [next(texts)]
    return " ".join(filter(None, parts))


def _text(sentence: Sentence) -> str:
    return sentence.text if isinstance(sentence, Told) else sentence


HERE = Path(__file__).parent


def follow_links() -> None:
    """Open the issue, or the map, whose link was followed. The prose stands in the container ``answer``."""
    with st.container(key="answer-links"):
        slug = listening_script(HERE / "links.js")(key="answer.links.script", on_issue_change=nothing).issue
    if slug is not None:
        st.switch_page(FILE, query_params={"issue": slug} if slug in ISSUES else {})
