"""The arms of an experiment: what two of them differ in, and links to the lab."""

from typing import Any

import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import changes_between
from engine.experiments.experiment import Arm, Experiment, Role
from engine.foundation.formatting import counted
from engine.settings.fields import Setting
from engine.text.tokens import unknown_beside
from pages.parts.app.in_markdown import escaped
from pages.parts.charts.experiments.arms import goes_without_saying

ROLE_MARKS: dict[Role, str] = {
    "fault": ":orange-badge[fault]",
    "control": ":blue-badge[control]",
    "remedy": ":green-badge[remedy]",
    "comparison": ":violet-badge[comparison]",
}
WIDTHS = [3, 1.6]


def show_arms(experiment: Experiment, extended: bool, seed: int, pair: tuple[str, str] | None = None) -> None:
    """``pair``: the names of the two arms that are compared first; by default the first two."""
    arms = experiment.arms_of(extended)
    st.caption(f"An arm is one way to train. {experiment.matched}")
    _show_pair(experiment, arms, pair or (arms[0].name, arms[-1].name))
    with st.container(border=True, gap="small"):
        for arm in arms:
            name, way = st.columns(WIDTHS, gap="xxsmall", vertical_alignment="center")
            unknown = unknown_beside(experiment.config(arm).task_settings.unknown_share())
            name.markdown(f"{ROLE_MARKS[arm.role]} **{escaped(arm.name)}**" + (f" :gray[{unknown}]" if unknown else ""))
            with way:
                st.page_link(
                    "lab.py", label="Open in the lab", icon=":material/science:",
                    query_params=to_query(experiment.config(arm, seed)) | {"of": experiment.slug, "arm": arm.name},
                    help=f"Opens “{arm.name}” in the lab with every setting in place, seed {seed}.",
                )  # fmt: skip
    if hidden := len(experiment.arms) - len(arms):
        st.caption(f"{counted(hidden, 'arm')} more take longer; “Extended” adds them.")


def _show_pair(experiment: Experiment, arms: tuple[Arm, ...], pair: tuple[str, str]) -> None:
    """Two arms to choose, and the settings in which they differ."""
    names = [arm.name for arm in arms]
    (left, right), (first, second) = st.columns(2), map(names.index, pair)
    one = left.selectbox("What differs between", names, index=first, key=f"arms.first.{experiment.slug}")
    other = right.selectbox("and", names, index=second, key=f"arms.second.{experiment.slug}")
    st.markdown(differences(experiment, experiment.arm(one), experiment.arm(other)))


def differences(experiment: Experiment, first: Arm, second: Arm) -> str:
    """ "Mask fault: None → Missing" for each setting that differs, in Markdown."""
    changes = changes_between(experiment.config(first), experiment.config(second))
    found = [_change(*change) for change in changes if not goes_without_saying(*change)]
    return " · ".join(found) if found else ":gray[Nothing: they are the same training, measured in two ways.]"


def _change(row: Setting, there: Any, here: Any) -> str:
    before, after = (escaped(row.words(value)) for value in (there, here))
    if there is None and not row.optional:  # a parameter that the first arm's task or encoding does not have
        return f"{row.label} **{after}**"
    if here is None and not row.optional:
        return f"{row.label} {before} → **none**"
    return f"{row.label}: {before} → **{after}**"
