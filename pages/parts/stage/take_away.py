"""Downloads of an experiment: the evidence as JSON and as a table."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial

import streamlit as st

from engine.experiments.frames import numbers_frame
from pages.parts.stage.shown import Shown


def take_away(shown: Shown) -> None:
    slug = shown.issue.slug
    with st.container(horizontal=True):
        # Functions, not values: the files are made only when somebody downloads them.
        st.download_button(
            "Evidence (JSON)", partial(as_json, shown), f"{slug}.json", "application/json", icon=":material/download:"
        )
        st.download_button(
            "Every number of every trial (CSV)",
            partial(as_csv, shown),
            f"{slug}.csv",
            "text/csv",
            icon=":material/download:",
        )


def as_json(shown: Shown) -> str:
    """The report as the command line prints it, and the trials behind it with their curves."""
    return json.dumps(
        {**shown.report.to_json(), "trials": [asdict(trial) for trial in shown.trials]}, indent=1, allow_nan=False
    )


def as_csv(shown: Shown) -> str:
    """A row for each number of each trial: arm, role, seed, number, value."""
    roles = {arm.name: arm.role for arm in shown.arms}
    return numbers_frame(shown.issue.slug, roles, shown.trials).to_csv(index=False)
