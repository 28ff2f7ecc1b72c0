"""A design on the page Encodings: its parts, its training against built-in encodings, and its code."""

import shlex
from pathlib import Path
from typing import Any

import streamlit as st

from engine.config.link import as_options
from engine.config.link import to_query as lab_query
from engine.encodings import ENCODINGS
from engine.encodings.designed import DesignedSettings
from engine.encodings.designed.code import layer_code, spec_code
from engine.experiments.comparison import DESIGN, MATCHED, MAX_RIVALS, RIVALS, TASKS, Comparison, design_config
from engine.experiments.evidence.store import find_comparison
from engine.experiments.experiment import Experiment
from engine.experiments.running.experiment_run import ExperimentRun
from engine.settings.errors import ConfigError
from pages.parts.app.in_markdown import in_markdown, say_unsaved, show_refusal
from pages.parts.app.recent_runs import in_step_with
from pages.parts.encodings.state import (
    AGAINST,
    EXPERIMENT,
    ON_TASKS,
    PARTS,
    SETTINGS,
    SIDES,
    design_of,
    designed_side,
    value,
)
from pages.parts.experiments.board import show_arms, show_downloads, show_evidence
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot
from pages.parts.experiments.run_buttons import forecast, run_or_stop
from pages.parts.experiments.running import EXPERIMENTS, ExperimentRequest

CHOICES = ("design_features", "design_readout", "design_place", "design_learned")
GUIDE = Path(__file__).with_suffix(".md")
COMMANDS = "pytest tests/engine -k my_encoding\npython -m engine train --pos-encoding my_encoding"


def offer_design() -> None:
    if SETTINGS.visible(*SIDES) and not designed_side(SETTINGS.values()):
        begin, changes = SETTINGS.put, {SIDES[0]: DESIGN}
        st.button("Design your own", icon=":material/architecture:", on_click=begin, args=(changes,))


def parts_form(side: str) -> None:
    """The four choices of a design. A choice that the others decide is disabled."""
    design = DesignedSettings(**design_of(SETTINGS.values(), side))
    drawn = SETTINGS.visible(*(f"{side}.{name}" for name in CHOICES))
    if drawn:
        with st.grid(len(drawn), min_column_width=170):
            for name in drawn:
                SETTINGS.widget(name, disabled=decided(name.partition(".")[2], design))


def numbers_of(design: DesignedSettings) -> list[str]:
    features, readout, acts_at = design.design_features, design.design_readout, design.design_place
    there = {
        "design_width": readout != "direct" and features != "convolution",
        "design_hidden": "network" in (features, readout),
        "design_base": features == "sinusoids",
        "design_length_scale": features == "fourier",
        "design_reach": features == "convolution",
        "design_init_std": not (features in ("sinusoids", "fourier") and acts_at == "rotation"),
    }
    return [name for name, has in there.items() if has]


def decided(name: str, design: DesignedSettings) -> bool:
    if name == "design_place":
        return design.design_features == "convolution"
    return name == "design_readout" and design.design_place == "rotation"


# Against the built-in ones


def show_design() -> None:
    side = designed_side(SETTINGS.values())
    if not side:
        return
    st.header("Your design and built-in ones", anchor=False)
    parts = design_of(SETTINGS.values(), side)
    name = value(EXPERIMENT) or ""
    run = EXPERIMENTS.find(name)
    with in_step_with(lambda: run.state if run is not None else ""):
        _run_form(name, run)
        _show_result(parts, name, run)
    with st.expander("Continue in Python", icon=":material/code:"):
        _show_guide(parts)


def requested_comparison() -> Comparison:
    values = SETTINGS.requested()
    return Comparison(design_of(values, designed_side(values)), values[AGAINST], values[ON_TASKS], values["seeds"])


def _run_form(name: str, run: ExperimentRun | None) -> None:
    running, experiment, problem = run is not None and run.state == "running", None, ""
    comparison = requested_comparison()
    try:
        experiment = comparison.experiment
    except (ConfigError, ValueError) as error:
        problem = in_markdown(error)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        run_or_stop(name, run, _run_request, ready=experiment is not None)
        with st.popover("Against", icon=":material/compare_arrows:"):
            _rivals(disabled=running)
        if experiment is not None:
            query = lab_query(design_config(comparison.parts))
            st.page_link(
                "lab.py", label="Open in the lab", icon=":material/science:", query_params=query,
                help="Your design on the first task, with all settings.",
            )  # fmt: skip
    st.caption(forecast(experiment) if experiment is not None else f":material/block: {problem}")
    show_refusal()


def _run_request() -> ExperimentRequest:
    comparison, shown_name = requested_comparison(), value(EXPERIMENT) or ""
    return ExperimentRequest(
        comparison.experiment, lambda name: SETTINGS.put({EXPERIMENT: name}), shown_name, comparison=comparison
    )


def _rivals(*, disabled: bool) -> None:
    if SETTINGS.visible(AGAINST):
        bound = SETTINGS.labelled(AGAINST, display=list(value(AGAINST)), disabled=disabled)
        st.multiselect(
            options=RIVALS, format_func=lambda name: ENCODINGS[name].label, max_selections=MAX_RIVALS,
            placeholder="Choose encodings", **bound,
        )  # fmt: skip
    if SETTINGS.visible(ON_TASKS):
        bound = SETTINGS.labelled(ON_TASKS, display=list(value(ON_TASKS)), disabled=disabled)
        st.pills(options=list(TASKS), selection_mode="multi", format_func=lambda name: TASKS[name].label, **bound)
    SETTINGS.widget("seeds", disabled=disabled)
    st.caption(f"{MATCHED} The rule for “better” is fixed before the run.")


def _show_result(parts: dict[str, Any], name: str, run: ExperimentRun | None) -> None:
    stored = find_comparison(name)
    source: ExperimentRun | ExperimentSnapshot | None = run or (
        ExperimentSnapshot.of(stored[1], "kept") if stored else None
    )
    if source is None:
        return
    _heading(source.experiment, parts)
    snapshot = show_evidence(name, source)
    say_unsaved(run)
    if snapshot.state != "running":
        show_downloads(snapshot)
        with st.expander("All arms, with links to the lab", icon=":material/science:"):
            show_arms(snapshot.experiment, False, snapshot.seeds[0])


def _heading(experiment: Experiment, parts: dict[str, Any]) -> None:
    in_run = experiment.config(experiment.arms[0]).encoding_settings
    assert isinstance(in_run, DesignedSettings)
    changed = "" if in_run == DesignedSettings(**parts) else " :orange[:material/edit: The parts have changed since.]"
    st.markdown(f"**In this run:** {in_run.in_words}{changed}")


def _show_guide(parts: dict[str, Any]) -> None:
    """Draw the guide. A paragraph that is one word in capitals stands for a piece of code."""
    design = DesignedSettings(**parts)
    changed = {name: now for name, now in parts.items() if now != PARTS[name].default}
    train = shlex.join(["python", "-m", "engine", "train", "--pos-encoding", DESIGN, *as_options(changed)])
    pieces = {
        "TRAIN": (train, "bash"), "LAYER": (layer_code(design), "python"), "SPEC": (spec_code(design), "python"),
        "COMMANDS": (COMMANDS, "bash"),
    }  # fmt: skip
    for paragraph in GUIDE.read_text("utf-8").strip().split("\n\n"):
        if paragraph in pieces:
            text, language = pieces[paragraph]
            st.code(text, language=language, wrap_lines=True)
        else:
            st.markdown(paragraph)
