"""The evidence of an experiment on a page: the choice of a curve, the board, the downloads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import streamlit as st

from engine.estimate.layout import metric_names
from engine.experiments.experiment import Experiment
from engine.experiments.running.experiment_run import ExperimentRun
from pages.parts.stage.board import Drawing, experiment_board, kept_board
from pages.parts.stage.panels import VALIDATION, curve_label, sections, shows_both
from pages.parts.stage.shown import Shown, of_run

CURVE = "stage.curve"


def follow(name: str, run: ExperimentRun) -> Shown:
    """The board of a run of this server process, filling in until it ends."""
    shown = of_run(run)
    experiment_board(_evidence(choose_curve(shown)), name, run)
    return shown


def show_stored(name: str, shown: Shown) -> None:
    """The board of stored evidence; ``name``: under which its figures are kept."""
    kept_board(_evidence(choose_curve(shown)), name, shown)


def _evidence(curve: str) -> Drawing:
    return Drawing("evidence", partial(sections, curve), curve)


@contextmanager
def in_step_with(run: ExperimentRun | None) -> Iterator[None]:
    """Rerun the script if the run changed state during it, so that the buttons match."""
    state = run.state if run is not None else ""
    yield
    if run is not None and run.state != state:
        st.rerun()


def choose_curve(shown: Shown) -> str:
    """The curve that the panels show, chosen by the reader; empty where there are none."""
    if not shown.curves:
        return ""
    options = curve_names(shown.experiment)
    chosen: str = st.segmented_control(
        "Curves", options, default="loss", required=True, key=CURVE, persist_state="session",
        format_func=lambda name: curve_label(shown.experiment, name).capitalize(),
    ) or "loss"  # fmt: skip
    return chosen if chosen in options else "loss"


def curve_names(experiment: Experiment) -> list[str]:
    config = experiment.config(experiment.arms[0])
    losses = ["loss"] if shows_both(experiment, "loss") else ["loss", VALIDATION]
    return [*losses, *(f"validation.{metric}" for metric in metric_names(config)), *experiment.curves]
