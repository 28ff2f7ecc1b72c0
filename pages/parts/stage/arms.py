"""The arms of an experiment: the settings that each changes against the control, and links to the lab."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.config.link import to_query
from engine.experiments.experiment import Arm, Experiment, Role
from engine.settings.fields import Setting, to_text
from pages.parts.app.in_markdown import escaped
from pages.parts.charts.arms import goes_without_saying

ROLE_MARKS: dict[Role, str] = {
    "fault": ":orange-badge[fault]",
    "control": ":blue-badge[control]",
    "remedy": ":green-badge[remedy]",
    "comparison": ":violet-badge[comparison]",
}
WIDTHS = [3, 4, 1.6]


def show_arms(experiment: Experiment, extended: bool, seed: int) -> None:
    st.subheader("The arms", anchor=False, help=f"Ways to train that are compared. {experiment.matched}")
    with st.container(border=True, gap="small"):
        for arm in experiment.arms_of(extended):
            name, changes, way = st.columns(WIDTHS, gap="xxsmall", vertical_alignment="center")
            name.markdown(f"{ROLE_MARKS[arm.role]} **{escaped(arm.name)}**")
            changes.markdown(changes_in_words(experiment, arm))
            with way:
                st.page_link(
                    "lab.py", label="Open in the lab", icon=":material/science:",
                    query_params=to_query(experiment.config(arm, seed)),
                    help=f"Opens “{arm.name}” in the lab with every setting in place, seed {seed}.",
                )  # fmt: skip
    hidden = len(experiment.arms) - len(experiment.arms_of(extended))
    if hidden:
        st.caption(f"{hidden} more take longer; “Extended” adds them.")


def changes_in_words(experiment: Experiment, arm: Arm) -> str:
    """ "Mask fault: None → Missing" for each changed setting; for the control, a sentence that the others change it."""
    changes = experiment.changes(arm)
    if not changes:
        return ":gray[what the others are compared with]"
    return " · ".join(_change(*change) for change in changes if not goes_without_saying(*change))


def _change(row: Setting, there: Any, here: Any) -> str:
    if there is None and not row.optional:  # a parameter that the control's task or encoding does not have
        return f"{row.label} **{_shown(row, here)}**"
    return f"{row.label}: {_shown(row, there)} → **{_shown(row, here)}**"


def _shown(row: Setting, value: Any) -> str:
    return escaped(row.label_of(to_text(value)) if row.kind == "choice" else to_text(value))
