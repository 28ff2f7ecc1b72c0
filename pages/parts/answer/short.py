"""The short answer: how many of the questions came out as expected, and one sentence for each section, which leads to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from engine.experiments.answer import Section, Told, statements
from engine.experiments.issues import ISSUES
from engine.experiments.statistics import Finding
from pages.parts.answer.prose import found_for, found_of, mark

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


def begin(section: Section) -> str:
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
