"""Coming from an issue: which arm the settings are, its reference behind the curves, and the way back."""

from __future__ import annotations

import streamlit as st

from engine.experiments.experiment import Arm, Experiment
from engine.experiments.issues import ISSUES
from engine.experiments.running.trial_cache import stored_trials_of
from engine.settings.errors import Problem
from pages.parts.app.in_markdown import escaped
from pages.parts.boards.live.board import Overlay
from pages.parts.charts.encoding import color_of
from pages.parts.lab.controls import submit
from pages.parts.lab.state import ARM, ISSUE

KEY = "arrival"


def take_arrival(link: dict[str, str]) -> list[Problem]:
    """Note what a link says of where it comes from; a link that says nothing ends an earlier arrival."""
    if not link:
        return []
    slug, name = link.get(ISSUE, ""), link.get(ARM, "")
    st.session_state.pop(KEY, None)
    if slug not in ISSUES:
        return [Problem(ISSUE, slug, "the name of an issue")] if slug else []
    if name not in [arm.name for arm in ISSUES[slug].arms]:
        return [Problem(ARM, name, f"an arm of the issue {slug}")]
    st.session_state[KEY] = (slug, name)
    return []


def show_arrival() -> None:
    """One line: the arm and its issue, the way back, and a button that trains the reference arm as well."""
    found = _arrived()
    if found is None:
        return
    issue, arm = found
    reference = _reference(issue)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lab-arrival"):
        st.markdown(f"From **{escaped(issue.title)}**: the arm “{escaped(arm.name)}”.", width="content")
        if reference is not None and reference.name != arm.name:
            st.button(
                f"Run “{reference.name}” as well", icon=":material/compare_arrows:", on_click=_train, args=(issue, reference),
                help="The arm that the others are compared with. Its curves then stand behind yours.",
            )  # fmt: skip
        st.page_link(
            "issues.py", label="Back to the issue", icon=":material/arrow_back:", query_params={"issue": issue.slug}
        )


def reference_behind(task: str) -> list[Overlay]:
    """The reference arm's curves, where a trial of it is stored here and the task is the same."""
    found = _arrived()
    reference = _reference(found[0]) if found else None
    if found is None or reference is None or reference.name == found[1].name:
        return []
    config = found[0].config(reference)
    if config.task != task:
        return []
    trial = next((one for one in stored_trials_of(found[0], reference) if one.curves), None)
    if trial is None:
        return []
    columns = {
        name: ([step for step, _ in curve], [value for _, value in curve]) for name, curve in trial.curves.items()
    }
    return [Overlay("", f"{reference.name}, seed {trial.seed}", color_of(config), columns)]


def _arrived() -> tuple[Experiment, Arm] | None:
    slug, name = st.session_state.get(KEY, ("", ""))
    return (ISSUES[slug], ISSUES[slug].arm(name)) if slug in ISSUES else None


def _reference(issue: Experiment) -> Arm | None:
    return next((arm for arm in issue.arms if arm.role == "control"), None)


def _train(issue: Experiment, arm: Arm) -> None:
    submit(issue.config(arm))
