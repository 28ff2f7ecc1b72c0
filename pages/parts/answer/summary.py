"""The answer in numbers: how many claims hold and how many do not, counted in the shipped evidence."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.experiments.answer import Section, claim_of, statements
from engine.experiments.evidence.shipped import ShippedClaim, counted_findings
from engine.experiments.issues import ISSUES
from engine.foundation.formatting import counted
from pages.parts.answer.prose import found_of
from pages.parts.stage.looks import badge


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
