"""One encoding along a run: its first values beside those at any snapshot."""

from __future__ import annotations

import streamlit as st

from engine.analysis.encoding_jobs import ComputePortraitOfSnapshot, FollowSnapshots, MeasureFinalScales
from engine.encodings import ENCODINGS
from engine.foundation.errors import JobError
from engine.runs.events import Snapshot, layers_kept
from engine.runs.run import Run
from pages.parts.app.in_markdown import as_code, in_markdown
from pages.parts.app.questions import ask_once
from pages.parts.app.session import shown_run
from pages.parts.boards.panels import Panel, panels
from pages.parts.boards.recorded import RECORDED, recorded_run, run_in_words, run_named, runs_of_visitor
from pages.parts.charts.portrait import Portrait
from pages.parts.charts.spectra import along_figure
from pages.parts.encodings.panels import (
    component_panels,
    matrix_panel,
    order_in_words,
    profile_panel,
    similarity_panel,
    spectrum_panels,
)
from pages.parts.encodings.state import LAYER, RUN, SETTINGS, STEP, control, value, write_address

POLL_SECONDS = 2.0
"""Seconds between two checks of a run that trains."""


def through_training() -> None:
    run = _chosen()
    st.fragment(_along, run_every=POLL_SECONDS if run.live else None)(run)


def runs_to_choose() -> dict[str, Run]:
    """The recorded run, the one of the link, and this visitor's with attention and snapshots, by their names in the link."""
    found = runs_of_visitor(lambda run: bool(steps_stored(run)), run_named(value(RUN) or RECORDED), shown_run())
    return {RECORDED: recorded_run()} | {name: run for name, run in found.items() if run.config.architecture.attends}


def steps_stored(run: Run) -> tuple[int, ...]:
    """The steps at which a run's encoding was stored."""
    kept = {event.step for event in run.events.of(Snapshot)}
    return tuple(sorted(step for step in kept if (run.folder / "snapshots" / f"{step}.npz").exists()))


def layers_stored(run: Run) -> int:
    """The number of layers whose encoding a run stored: 1 where all share it, and in runs of older versions."""
    return layers_kept(run.snapshot.encoding) if run.snapshot else 1


def _chosen() -> Run:
    runs = runs_to_choose()
    asked_for = value(RUN) or RECORDED
    if asked_for not in runs:
        st.warning(
            f"run is {as_code(asked_for)}; no run of that name is kept here. Shown is the recorded one.",
            icon=":material/search_off:",
        )
        asked_for = RECORDED
    if SETTINGS.drawn(RUN):
        bound = SETTINGS.labelled(RUN, shown=asked_for)
        st.selectbox(options=list(runs), format_func=lambda name: run_in_words(runs[name]), **bound)
    st.caption(
        "The recorded run and yours of this visit. Train one in the lab, with any encoding, and it is listed here."
    )
    return runs[asked_for]


def _along(run: Run) -> None:
    write_address()
    steps = steps_stored(run)
    if len(steps) < 2:
        st.info("No two snapshots of this run are kept yet: train it a little.", icon=":material/hourglass:")
        return
    wanted = steps[-1] if value(STEP) is None else value(STEP)
    step = min(steps, key=lambda kept: abs(kept - wanted))
    slider, likeness = st.columns([3, 1], vertical_alignment="bottom", gap="large")
    with slider:
        if SETTINGS.drawn(STEP):
            st.select_slider(options=steps, **SETTINGS.labelled(STEP, shown=step))
    with likeness:
        control("likeness")
    layers = layers_stored(run)
    layer = _choose_layer(layers) if layers > 1 else 0
    try:
        folder = str(run.folder)
        first, then = (ask_once(ComputePortraitOfSnapshot(folder, run.config, at, layer)) for at in (steps[0], step))
        numbers = ask_once(FollowSnapshots(folder, steps, layer))
        scales = {} if run.live else ask_once(MeasureFinalScales(folder, layer))
    except JobError as error:
        st.error(in_markdown(error), icon=":material/error:")
        return
    _facts(run, first, then, scales, step, layer if layers > 1 else None)
    panels(
        _board(run, steps, step, first, then, numbers),
        key="encodings.training",
        name="encoding-in-training",
        least=440,
        level=2,
    )


def _choose_layer(layers: int) -> int:
    """The layer whose encoding is shown, from 0, chosen by the reader."""
    layer = min(max(1, value(LAYER) or 1), layers)
    if SETTINGS.drawn(LAYER):
        st.segmented_control(options=range(1, layers + 1), required=True, **SETTINGS.labelled(LAYER, shown=layer))
    return layer - 1


def _facts(run: Run, first: Portrait, then: Portrait, scales: dict[str, float], step: int, layer: int | None) -> None:
    """Facts in words. ``layer``: the layer, where each has its own encoding."""
    row = ENCODINGS[run.config.pos_encoding]
    words = [f"Order at the start {order_in_words(first)}, at step {step} {order_in_words(then)}."]
    if "encoding" not in scales and abs(first["matrix"] - then["matrix"]).max() == 0:
        words.append("Nothing of this encoding is learned: it stays as it is.")
    if {"tokens", "encoding"} <= scales.keys():
        ratio = scales["encoding"] / scales["tokens"] if scales["tokens"] else float("nan")
        words.append(
            f"At the end the tokens' scale is {scales['tokens']:.3g} and the encoding's {scales['encoding']:.3g}: a ratio of {ratio:.2f}."
        )
    if layer is not None:
        words.append(f"Each layer has its own; shown is that of layer {layer + 1}.")
    elif row.per_layer and run.config.n_layers > 1 and not run.config.share_layers:
        words.append("Each layer has its own; this run kept the first layer's only.")
    st.caption(" ".join([*words, row.shown_as]))


def _board(
    run: Run,
    steps: tuple[int, ...],
    step: int,
    first: Portrait,
    then: Portrait,
    numbers: dict[str, list[float]],
) -> list[Panel]:
    color, shown = ENCODINGS[run.config.pos_encoding].color, first["rows"]
    both = {"first": (f"step {steps[0]}", first), "then": (f"step {step}", then)}
    found = [matrix_panel(side, name, p, shown) for side, (name, p) in both.items()]
    found += [similarity_panel(side, name, p, value("likeness"), shown) for side, (name, p) in both.items()]
    found += [profile_panel(side, name, p, color) for side, (name, p) in both.items()]
    for name, title, unit in (
        ("order", "Order along the run", "correlation with nearness"),
        ("scale", "Scale along the run", "root mean square"),
    ):
        line = numbers[name]
        alt = f"{title}: from {line[0]:.3g} at step {steps[0]} to {line[-1]:.3g} at step {steps[-1]}."
        found.append(
            Panel(
                f"{name}.along",
                title,
                along_figure(steps, [(name, line)], step, unit, color),
                alt,
                height=240,
                below=alt,
            )
        )
    # The start in grey, to distinguish two curves of one encoding.
    found += spectrum_panels([(both["first"][0], "#8C8C8C", first), (both["then"][0], color, then)])
    parts = [component_panels(side, name, p, color) for side, (name, p) in both.items()]
    return found + [own[place] for place in range(2) for own in parts if own]
