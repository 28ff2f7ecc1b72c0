"""The board of an experiment, which draws results as they come in; its arms, claims and downloads."""

import json
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from functools import partial
from math import nan
from statistics import fmean
from typing import Any

import pandas as pd
import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import changes_between
from engine.estimate.layout import metric_names
from engine.experiments.experiment import Arm, Experiment, Role
from engine.experiments.frames import effects_frame, numbers_frame
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.formatting import counted
from engine.foundation.provenance import in_words
from engine.settings.fields import Setting
from engine.tasks.text.tokens import unknown_beside
from pages.parts.app.frame import as_fragment, nothing
from pages.parts.app.in_markdown import escaped
from pages.parts.app.page_state import offer_file
from pages.parts.app.visitor import number_present
from pages.parts.boards.component import Json
from pages.parts.boards.panels import mount
from pages.parts.charts.experiments.arms import goes_without_saying, metric_label
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot, row_of, snapshot_of
from pages.parts.experiments.panels import VALIDATION, curve_label, sections, shows_both, status

POLL = 0.5  # seconds between two checks of an experiment, at least
# Where a class watches, each page checks less often, so that controls answer at once.
CHECKS_PER_SECOND = 20  # of all pages together
CURVE = "experiment_view.curve"


@dataclass(frozen=True)
class Drawing:
    key: str
    sections: Callable[[ExperimentSnapshot], list[Json]]
    depends_on: Hashable = None  # the inputs of the sections other than the experiment, such as the chosen curve
    on_pick: Callable[[], None] = nothing  # before the rerun that a click or a drag in a figure causes
    name_of: Callable[[str], str] = str
    below: Callable[[ExperimentSnapshot], None] = lambda _: None  # drawn as often as the figures
    quiet: bool = False  # no status line above the figures


def experiment_board(
    drawing: Drawing, name: str, source: ExperimentRun | ExperimentSnapshot | Callable[[], ExperimentSnapshot]
) -> None:
    """Show an experiment and follow its run. When the run ends, the script is rerun once.

    ``source`` may be a run, evidence, or a function that is called at each check. ``name`` is part of the key of the
    figures.
    """
    running = isinstance(source, ExperimentRun) and source.state == "running"

    def draw() -> None:
        snapshot = (
            snapshot_of(source) if isinstance(source, ExperimentRun) else source() if callable(source) else source
        )
        _mount(drawing, name, snapshot)
        drawing.below(snapshot)
        if running and snapshot.state != "running":
            st.rerun()

    as_fragment(draw, every=max(POLL, number_present() / CHECKS_PER_SECOND) if running or callable(source) else None)


def _mount(drawing: Drawing, name: str, snapshot: ExperimentSnapshot) -> None:
    key, stamp = f"experiment_view.payload.{drawing.key}", (name, drawing.depends_on, snapshot.stamp)
    last: tuple[Hashable, list[Json]] | None = st.session_state.get(key)
    if last is None or last[0] != stamp:  # else the sections are as before
        last = st.session_state[key] = (stamp, drawing.sections(snapshot))
    version, picked = str(hash(stamp)), drawing.on_pick
    line = (
        {"state": "", "share": 0.0, "words": "", "problem": ""} if drawing.quiet else status(snapshot, drawing.name_of)
    )
    reply = mount(drawing.key, name, version, last[1], name=snapshot.name, status=line, on_pick=picked)
    if picked is not nothing and reply.picked:
        st.rerun()  # what was picked changes the page around the board


def show_evidence(name: str, source: ExperimentRun | ExperimentSnapshot) -> ExperimentSnapshot:
    """Draw all evidence with the choice of a curve; return what is drawn first."""
    snapshot = snapshot_of(source) if isinstance(source, ExperimentRun) else source
    curve = choose_curve(snapshot)
    experiment_board(Drawing("evidence", partial(sections, curve), curve, below=show_numbers), name, source)
    return snapshot


def choose_curve(snapshot: ExperimentSnapshot) -> str:
    if not snapshot.has_curves:
        return ""
    options = curve_names(snapshot.experiment)
    chosen: str = st.segmented_control(
        "Curves", options, default="loss", required=True, key=CURVE, persist_state="session",
        format_func=lambda name: curve_label(snapshot.experiment, name).capitalize(),
    ) or "loss"  # fmt: skip
    return chosen if chosen in options else "loss"


def curve_names(experiment: Experiment) -> list[str]:
    config = experiment.config(experiment.arms[0])
    losses = ["loss"] if shows_both(experiment, "loss") else ["loss", VALIDATION]
    return [*losses, *(f"validation.{metric}" for metric in metric_names(config)), *experiment.curves]


def show_numbers(snapshot: ExperimentSnapshot) -> None:
    if not snapshot.trials:
        return
    icon = ":material/table_rows:"
    table = st.expander("In numbers, seed by seed", icon=icon, key="experiment_view.numbers", on_change="rerun")
    if not table.open:  # a closed table is not computed
        return
    rows = [(arm, row_of(snapshot, arm)) for arm in snapshot.arms]
    frame = pd.DataFrame(
        [[arm.name, arm.role, metric_label(arm.metric), fmean(row.known or [nan]), *row.values] for arm, row in rows],
        columns=["Arm", "Role", "Number", "Mean", *(f"Seed {seed}" for seed in snapshot.seeds)],
    )
    numbers = {name: st.column_config.NumberColumn(format="%.4g") for name in frame.columns[3:]}
    pinned = {"Arm": st.column_config.TextColumn(pinned=True)}
    table.dataframe(frame, hide_index=True, placeholder="", column_config=numbers | pinned)


def show_downloads(snapshot: ExperimentSnapshot) -> None:
    if snapshot.state == "running" or not snapshot.trials:
        return
    with st.expander("The claims in numbers", icon=":material/table_chart:"):
        show_claims(snapshot)
    with st.container(horizontal=True):
        offer_file("Evidence (JSON)", partial(as_json, snapshot), f"{snapshot.name}.json")
        offer_file("Every number of every trial (CSV)", partial(as_csv, snapshot), f"{snapshot.name}.csv")
    if origins := list(filter(None, map(in_words, (snapshot.provenance, *snapshot.moved.values())))):
        st.caption(f"Measured with {escaped('; '.join(origins))}.")


def show_claims(snapshot: ExperimentSnapshot) -> None:
    number = st.column_config.NumberColumn
    every_same = "empty where every seed has the same effect"
    numbers = {
        name: number(label, format=format, help=help or None)
        for name, label, format, help in (
            ("before", "Before", "%.3g", "Mean without the change."),
            ("after", "After", "%.3g", "Mean with the change."),
            ("effect", "Effect", "%+.3g", "Mean over the paired seeds."),
            ("low", "From", "%+.3g", f"Lower end of the 95 % interval; {every_same}."),
            ("high", "To", "%+.3g", "Upper end of the 95 % interval."),
            ("p", "p", "%.2g", f"Exact sign-flip test, two-sided; {every_same}."),
            ("p (Holm)", "p, Holm", "%.2g", "The same, corrected for the number of these claims (Holm 1979)."),
            ("smallest effect", "Counts from", "%g", "Smallest effect that counts, declared before the run."),
            (
                "found",
                "Found from",
                "%.2g",
                "These seeds find an effect of this size about four times in five. They miss smaller effects more often.",
            ),
            (
                "again",
                "Eight show it",
                "percent",
                "How often eight of these seeds, drawn at random, give the same finding.",
            ),
            ("seeds", "Seeds", None, ""),
        )
    }
    words = {"claim": "Claim", "condition": "Condition", "finding": "Finding", "direction": "Claimed", "unit": "Unit"}
    frame = effects_frame(snapshot)
    empty = [] if frame["condition"].any() else ["condition"]
    st.dataframe(frame.drop(columns=empty), hide_index=True, placeholder="", column_config={**words, **numbers})


def as_json(snapshot: ExperimentSnapshot) -> str:
    content = {**snapshot.to_json(), "origin": snapshot.origin, "trials": [asdict(trial) for trial in snapshot.trials]}
    return json.dumps(content, indent=1, allow_nan=False)


def as_csv(snapshot: ExperimentSnapshot) -> str:
    return numbers_frame(snapshot).assign(origin=snapshot.origin).to_csv(index=False)


# The arms


ROLE_MARKS: dict[Role, str] = {
    "fault": ":orange-badge[fault]",
    "control": ":blue-badge[control]",
    "remedy": ":green-badge[remedy]",
    "comparison": ":violet-badge[comparison]",
}
WIDTHS = [3, 1.6]


def show_arms(experiment: Experiment, extended: bool, seed: int, pair: tuple[str, str] | None = None) -> None:
    """Draw the arms. ``pair``: the names of the two that are compared first, by default the first and the last."""
    arms = experiment.arms_of(extended)
    st.caption(f"An arm is one way to train, on the same seeds as the others. {experiment.matched}")
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
                    help=f"Opens “{arm.name}” in the lab with all its settings, seed {seed}.",
                )  # fmt: skip
    if hidden := len(experiment.arms) - len(arms):
        st.caption(f"“Extended” adds {counted(hidden, 'arm')} with longer training.")


def _show_pair(experiment: Experiment, arms: tuple[Arm, ...], pair: tuple[str, str]) -> None:
    names = [arm.name for arm in arms]
    (left, right), (first, second) = st.columns(2), map(names.index, pair)
    one = left.selectbox("What differs between", names, index=first, key=f"arms.first.{experiment.slug}")
    other = right.selectbox("and", names, index=second, key=f"arms.second.{experiment.slug}")
    st.markdown(differences(experiment, experiment.arm(one), experiment.arm(other)))


def differences(experiment: Experiment, first: Arm, second: Arm) -> str:
    """ "Mask fault: None → Missing" for each setting that differs, in Markdown."""
    changes = changes_between(experiment.config(first), experiment.config(second))
    parts = [_change(*change) for change in changes if not goes_without_saying(*change)]
    return " · ".join(parts) if parts else ":gray[Nothing: it is one training, measured in two ways.]"


def _change(row: Setting, there: Any, here: Any) -> str:
    before, after = (escaped(row.words(value)) for value in (there, here))
    if there is None and not row.optional:  # a parameter that the first arm's task or encoding does not have
        return f"{row.label} **{after}**"
    if here is None and not row.optional:
        return f"{row.label} {before} → **none**"
    return f"{row.label}: {before} → **{after}**"
