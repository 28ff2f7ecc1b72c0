"""The answer in short and in numbers: a sentence for each section, which leads to it, and how many claims hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from engine.experiments.answer import Section, Told, claim_of, statements
from engine.experiments.evidence.shipped import ShippedClaim, counted_findings
from engine.experiments.issues import ISSUES
from engine.experiments.statistics import Finding
from engine.foundation.formatting import counted
from pages.parts.answer.prose import found_for, found_of, mark
from pages.parts.stage.claims import badge

AS_FOUND: Mapping[Finding | None, str] = {
    Finding.HOLDS: "{}",
    Finding.OPPOSITE: "The opposite came out of this: {}",
    Finding.NONE: "This was not seen: {}",
    Finding.UNDECIDED: "This is not decided: {}",
    None: "This was not measured: {}",
}
"""How a sentence is told by what was found about it."""


def show_short(sections: Sequence[Section]) -> None:
    first = [claims[0].finding for claims in map(found_of, ISSUES) if claims]
    st.markdown(
        f"**In short: {len(first)} possible issues were tried, and the main claim about {first.count(Finding.HOLDS)} of them holds.** "
        "Read on where you like:"
    )
    st.markdown("\n".join(f"- **[{section.heading}](#{section.anchor}).** {lead_of(section)}" for section in sections))


def lead_of(section: Section) -> str:
    """The sentence that answers for a section, as what was found lets it be told, with its mark."""
    return " ".join(filter(None, (_said(section), mark(section.lead) if section.lead else "")))


def opening(section: Section) -> str:
    """The same as the first paragraph of the section: the sentence stands out."""
    return " ".join(filter(None, (f"**{_said(section)}**", mark(section.lead) if section.lead else "")))


def _said(section: Section) -> str:
    if section.lead is not None:
        return as_found(section.lead)
    found = [one.finding if (one := found_for(told)) else None for told in statements((section,))]
    return f"{len(found)} sentences say what one could expect; {found.count(Finding.HOLDS) or 'none'} of them held."


def as_found(told: Told) -> str:
    found = found_for(told)
    return AS_FOUND[found.finding if found else None].format(told.text)


def show_summary(sections: Sequence[Section]) -> None:
    """What was found about all claims, and about the first claim of each issue, which gives the issue its finding."""
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
