"""One encoding through a training: its first values beside those at any snapshot."""

import streamlit as st

from engine.analysis.encodings import jobs
from engine.encodings import ENCODINGS
from engine.foundation.errors import JobError
from engine.runs.events import Snapshot, layers_kept
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from pages.parts.app.frame import as_fragment
from pages.parts.app.in_markdown import as_code, in_markdown
from pages.parts.app.own_runs import shown_run
from pages.parts.app.questions import ask_once
from pages.parts.boards.panels import Panel, panels
from pages.parts.boards.recorded import RECORDED, recorded_run, run_in_words, run_named, runs_of_visitor
from pages.parts.charts.encoding import Portrait
from pages.parts.charts.spectra import along_figure
from pages.parts.encodings.panels import curve_panels, order_in_words, picture_panels
from pages.parts.encodings.state import LAYER, RUN, SETTINGS, STEP, control, value

POLL_SECONDS = 2.0
"""Seconds between two checks of a run that trains."""


def through_training() -> None:
    run = _chosen()
    as_fragment(_through, run, every=POLL_SECONDS if run.live else None)


def steps_stored(run: Run) -> tuple[int, ...]:
    """The steps at which a run's encoding was stored."""
    folder, steps = RunFolder(run.folder), {event.step for event in run.events.of(Snapshot)}
    return tuple(sorted(step for step in steps if folder.arrays_of(step, "encoding").kept))


def _chosen() -> Run:
    """The recorded run, the one of the link, or one of this visitor's with attention and snapshots."""
    found = runs_of_visitor(lambda run: bool(steps_stored(run)), run_named(value(RUN) or RECORDED), shown_run())
    runs = {RECORDED: recorded_run()} | {name: run for name, run in found.items() if run.config.architecture.attends}
    asked_for = value(RUN) or RECORDED
    if asked_for not in runs:
        words = f"run is {as_code(asked_for)}; no run of that name is kept here. Shown is the recorded one."
        st.warning(words, icon=":material/search_off:")
        asked_for = RECORDED
    if SETTINGS.drawn(RUN):
        bound = SETTINGS.labelled(RUN, shown=asked_for)
        st.selectbox(options=list(runs), format_func=lambda name: run_in_words(runs[name]), **bound)
    st.caption(
        "The recorded run and yours of this visit. Train one in the lab, with any encoding, and it is listed here."
    )
    return runs[asked_for]


def _through(run: Run) -> None:
    SETTINGS.write_address(SETTINGS.query())
    if run.config.encoding.acts_on == "nowhere":
        st.info("This run has no positional encoding: there is nothing to follow.", icon=":material/block:")
        return
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
    layers = layers_kept(run.snapshot.encoding) if run.snapshot else 1  # where all share it, and in older runs
    layer = min(max(1, value(LAYER) or 1), layers)
    if layers > 1 and SETTINGS.drawn(LAYER):
        st.segmented_control(options=range(1, layers + 1), required=True, **SETTINGS.labelled(LAYER, shown=layer))
    layer -= 1  # counted from 1 on the page
    try:
        folder = str(run.folder)
        first, then = (
            ask_once(jobs.ComputePortraitOfSnapshot(folder, run.config, at, layer)) for at in (steps[0], step)
        )
        numbers = ask_once(jobs.FollowSnapshots(folder, steps, layer))
        scales = {} if run.live else ask_once(jobs.MeasureFinalScales(folder, layer))
    except JobError as error:
        st.error(in_markdown(error), icon=":material/error:")
        return
    _facts(run, first, then, scales, step, layer if layers > 1 else None)
    items = _panels_through(run, steps, step, first, then, numbers)
    panels(items, key="encodings.training", name="encoding-in-training", least=440, level=2)


def _facts(run: Run, first: Portrait, then: Portrait, scales: dict[str, float], step: int, layer: int | None) -> None:
    """Facts in words. ``layer``: the layer, where each has its own encoding."""
    row = ENCODINGS[run.config.pos_encoding]
    words = [f"Order at the start {order_in_words(first)}, at step {step:,} {order_in_words(then)}."]
    if "encoding" not in scales and abs(first["matrix"] - then["matrix"]).max() == 0:
        words.append("Nothing of this encoding is learned: it stays as it is.")
    if {"tokens", "encoding"} <= scales.keys():
        ratio = scales["encoding"] / scales["tokens"] if scales["tokens"] else float("nan")
        told = f"{scales['tokens']:.3g} and the encoding's {scales['encoding']:.3g}: a ratio of {ratio:.2f}."
        words.append(f"At the end the tokens' scale is {told}")
    if layer is not None:
        words.append(f"Each layer has its own; shown is that of layer {layer + 1}.")
    elif row.per_layer and run.config.n_layers > 1 and not run.config.share_layers:
        words.append("Each layer has its own; this run kept the first layer's only.")
    st.caption(" ".join([*words, row.shown_as]))


def _panels_through(
    run: Run, steps: tuple[int, ...], step: int, first: Portrait, then: Portrait, numbers: dict[str, list[float]]
) -> list[Panel]:
    color = ENCODINGS[run.config.pos_encoding].color
    both = (("first", f"step {steps[0]}", first, color), ("then", f"step {step:,}", then, color))
    lines = []
    for name, title, unit in (
        ("order", "Order through training", "correlation with nearness"),
        ("scale", "Scale through training", "root mean square"),
    ):
        line = numbers[name]
        alt = f"{title}: from {line[0]:.3g} at step {steps[0]} to {line[-1]:.3g} at step {steps[-1]:,}."
        drawn = along_figure(steps, line, name, step, unit, color)
        lines.append(Panel(f"{name}.through", title, drawn, alt, height=240, below=alt))
    # The start in grey, to distinguish two curves of one encoding.
    return picture_panels(both, value("likeness"), first["rows"]) + curve_panels(both, *lines, first="#8C8C8C")
