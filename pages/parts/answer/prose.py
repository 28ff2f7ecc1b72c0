"""The answer as Markdown: in short, in numbers, and as paragraphs whose statements end in a mark, a link that opens the issue in the
reader's session."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import streamlit as st

from engine.experiments.answer import Paragraph, Section, Sentence, Told, claim_of, statements
from engine.experiments.evidence.shipped import ShippedClaim, counted_findings, shipped_claims
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import ZERO, number
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
HERE = Path(__file__).parent
AS_FOUND: Mapping[Finding | None, str] = {
    Finding.HOLDS: "{}",
    Finding.OPPOSITE: "The opposite came out of this: {}",
    Finding.NONE: "This was not seen: {}",
    Finding.UNDECIDED: "This is not decided: {}",
    None: "This was not measured: {}",
}
"""How a sentence is told by what was found about it."""


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
    if len(set(found.by_set)) > 1:
        tested += f" The sets of seeds, each alone: {', '.join(finding.words for finding in found.by_set)}."
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


def follow_links() -> None:
    """Open the issue, or the map, whose link was followed. The prose stands in the container ``answer``."""
    with st.container(key="answer-links"):
        slug = listening_script(HERE / "links.js")(key="answer.links.script", on_issue_change=nothing).issue
    if slug is not None:
        st.switch_page(FILE, query_params={"issue": slug} if slug in ISSUES else {})


def show_short(sections: Sequence[Section]) -> None:
    first = [claims[0].finding for claims in map(found_of, ISSUES) if claims]
    st.markdown(
        f"**In short: {len(first)} possible issues were tried, and the main claim about {first.count(Finding.HOLDS)} of them holds.** "
        "Read on where you like:"
    )
    st.markdown("\n".join(f"- **[{section.heading}](#{section.anchor}).** {lead_of(section)}" for section in sections))


def lead_of(section: Section, style: str = "{}") -> str:
    """The sentence that answers for a section, as what was found lets it be told, with its mark."""
    return " ".join(filter(None, (style.format(_said(section)), mark(section.lead) if section.lead else "")))


def opening(section: Section) -> str:
    """The same as the first paragraph of the section: the sentence stands out."""
    return lead_of(section, "**{}**")


def _said(section: Section) -> str:
    if section.lead is not None:
        return as_found(section.lead)
    found = [one.finding if (one := found_for(told)) else None for told in statements((section,))]
    return f"{len(found)} sentences say what one could expect; {found.count(Finding.HOLDS) or 'none'} of them held."


def as_found(told: Told) -> str:
    found = found_for(told)
    return AS_FOUND[found.finding if found else None].format(told.text)


def show_summary(sections: Sequence[Section]) -> None:
    """The findings of all claims, and that of the first claim of each issue, which gives the issue its finding."""
    found = {slug: found_of(slug) for slug in ISSUES}
    every = [claim for claims in found.values() for claim in claims]
    first = [claims[0] for claims in found.values() if claims]
    told = {(one.issue, claim_of(one).sentence) for one in statements(sections)}
    fewest, most = (pick(claim.seeds for claim in every) for pick in (min, max))
    seeds = counted(most, "seed") if fewest == most else f"{fewest} to {most} seeds"
    st.markdown(f"**{len(every)} claims were measured**, each on {seeds}: {_in_badges(every)}")
    st.markdown(f"Each of the **{len(first)} questions** rests on its first claim: {_in_badges(first)}")
    st.caption(f"{len(told)} of the claims are told below; every claim stands on its question's page.")


def _in_badges(claims: Sequence[ShippedClaim]) -> str:
    return " ".join(badge(one, f"{one.words}: {count}") for one, count in counted_findings(claims).items())
