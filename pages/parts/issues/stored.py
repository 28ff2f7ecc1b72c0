"""Evidence on an issue without a run of one's own: the last one on this machine, and that which comes with this version."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from engine.experiments.evidence.shipped import shipped_reports
from engine.experiments.evidence.store import has_evidence, latest
from engine.experiments.issues.issue import Issue
from pages.parts.stage.shown import Shown

STORED = "issues.kept"
"""Widget key of the choice, followed by the issue's slug: what is shown of one issue shows nothing of the next."""


def choose_stored(issue: Issue) -> Shown | None:
    """The earlier result that the reader chooses to see; by default none, so that a guess comes first."""
    there: dict[str, Callable[[], Shown | None]] = {}
    if has_evidence(issue.slug):
        there["Last run here"] = lambda: Shown(found, "kept") if (found := latest(issue)) else None
    for found in shipped_reports(issue):
        there[f"Seeds {found.seeds[0]}-{found.seeds[-1]}"] = partial(Shown, found, "shipped")
    if not there:
        return None
    chosen = st.pills("Or see what was measured", list(there), key=f"{STORED}.{issue.slug}")
    return there[chosen]() if chosen in there else None
