"""The design against built-in encodings: the choice of rivals, Run and Stop, the live board and the verdict."""

from __future__ import annotations

from functools import partial

import streamlit as st

from engine.encodings import ENCODINGS
from engine.encodings.designed.spec import DesignedSettings
from engine.encodings.designed.words import in_words
from engine.experiments import design_store, trial_cache
from engine.experiments.comparison import MOST_RIVALS, RIVALS, TASKS, Comparison
from engine.experiments.experiment import MOST_SEEDS, Experiment
from engine.experiments.issues.issue import Issue
from engine.experiments.store import Evidence
from engine.settings.errors import ConfigError
from engine.workers.errors import Refused
from pages.parts.app import server
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.session import session_id
from pages.parts.design.choice import choice, choose
from pages.parts.stage.arms import show_arms
from pages.parts.stage.board import experiment_board, kept_board
from pages.parts.stage.experiments import EXPERIMENTS
from pages.parts.stage.forecast import forecast
from pages.parts.stage.shown import Shown, of_evidence, of_experiment
from pages.parts.stage.take_away import take_away

REFUSED = "design.refused"
AGAINST_KEY, TASKS_KEY, SEEDS_KEY, CURVE_KEY = (
    "design.set.against",
    "design.set.tasks",
    "design.set.seeds",
    "design.curve",
)
CURVES = {"loss": "Training loss", "validation.loss": "Loss", "validation.accuracy": "Accuracy"}


def show_experiment() -> None:
    name = choice().experiment
    experiment = EXPERIMENTS.find(name) if name else None
    issue, problem = _issue()
    _settings(issue, problem, experiment)
    if sentence := st.session_state.pop(REFUSED, None):
        st.error(sentence, icon=":material/block:")
    with st.container():  # a fixed container: the elements here must not change the index of those below
        if name and experiment:
            _follow(name, experiment)
        elif name and (kept := design_store.find(name)):
            _show_kept(name, *kept)


def _issue() -> tuple[Issue | None, str]:
    try:
        return choice().comparison.issue, ""
    except (ConfigError, ValueError) as error:
        return None, in_markdown(error)


def _settings(issue: Issue | None, problem: str, experiment: Experiment | None) -> None:
    running = experiment is not None and experiment.state == "running"
    for key, value in {AGAINST_KEY: choice().against, TASKS_KEY: choice().tasks, SEEDS_KEY: choice().seeds}.items():
        wanted = list(value) if isinstance(value, tuple) else value
        if st.session_state.get(key) != wanted:
            st.session_state[key] = wanted
    with st.container(border=True):
        st.multiselect(
            "Against", RIVALS, key=AGAINST_KEY, format_func=lambda name: ENCODINGS[name].label, max_selections=MOST_RIVALS,
            disabled=running, on_change=_take, placeholder="Choose encodings",
            help="Built-in encodings, with their usual settings.",
        )  # fmt: skip
        st.pills(
            "Tasks", list(TASKS), key=TASKS_KEY, selection_mode="multi", format_func=lambda name: TASKS[name].label,
            disabled=running, on_change=_take, help="; ".join(f"{task.label}: {task.asks}" for task in TASKS.values()) + ".",
        )  # fmt: skip
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            st.number_input(
                "Seeds", 1, MOST_SEEDS, key=SEEDS_KEY, disabled=running, width=120, on_change=_take,
                help="Paired: every arm starts from the same data under the same seed. Six can decide, eight are better.",
            )  # fmt: skip
            st.button(
                "Run", type="primary", icon=":material/play_arrow:", disabled=running or issue is None, width=120,
                on_click=_begin,
            )  # fmt: skip
            st.button(
                "Stop", icon=":material/stop:", disabled=not running, on_click=_stop, args=(experiment,), width=120
            )
        if issue is None:
            st.caption(f":material/block: {problem}")
        else:
            st.caption(forecast(issue, choice().seeds, False, trial_cache.known(issue, range(choice().seeds))))


def _follow(name: str, experiment: Experiment) -> None:
    """Show an experiment of this server process, running or ended."""
    state = experiment.state
    experiment_board(name, experiment, curve=_heading(experiment.issue))
    if experiment.state != "running":
        _take_further(of_experiment(experiment))
    if experiment.state != state:
        st.rerun()  # the experiment changed state during this script run: rerun so that the buttons match


def _show_kept(name: str, asked: Comparison, evidence: Evidence) -> None:
    """Show a stored experiment."""
    shown = of_evidence(asked.issue, evidence)
    kept_board(name, shown, curve=_heading(shown.issue))
    _take_further(shown)


def _heading(issue: Issue) -> str:
    """The design in words, and the curve that the panels show."""
    parts = issue.config(issue.arms[0]).encoding_settings
    assert isinstance(parts, DesignedSettings)
    changed = "" if parts == choice().design else " :orange[:material/edit: The parts above have changed since.]"
    st.markdown(f"**In this run:** {in_words(parts)}{changed}")
    curve: str | None = st.segmented_control(
        "Curves", list(CURVES), default="loss", required=True, key=CURVE_KEY, persist_state="session",
        format_func=lambda name: CURVES[name],
    )  # fmt: skip
    return curve or "loss"


def _take_further(shown: Shown) -> None:
    if shown.trials:
        take_away(shown)
    with st.expander("Every arm, and the way into the lab with it", icon=":material/science:"):
        show_arms(shown.issue, False, shown.seeds[0])


def _take() -> None:
    choose(
        against=tuple(name for name in RIVALS if name in st.session_state[AGAINST_KEY]),
        tasks=tuple(name for name in TASKS if name in st.session_state[TASKS_KEY]),
        seeds=int(st.session_state[SEEDS_KEY]),
    )


def _begin() -> None:
    """Train the trials without stored numbers; if it is refused, the sentence is stored to be shown and nothing else changes.
    Where the same comparison is running already, show that one.
    """
    asked = choice().comparison
    try:
        issue = asked.issue
        experiment = Experiment(
            issue, server.pool(), seeds=asked.seeds, session=session_id(),
            known=trial_cache.known(issue, range(asked.seeds)), keep=partial(trial_cache.keep, issue),
        )  # fmt: skip

        def keep(_: str) -> None:
            design_store.keep(asked, experiment)
            trial_cache.forget_oldest()

        name = EXPERIMENTS.begin(experiment, name=asked.name, keep=keep)
    except (Refused, ConfigError, ValueError) as error:
        st.session_state[REFUSED] = in_markdown(error)
        return
    choose(experiment=name)


def _stop(experiment: Experiment) -> None:
    experiment.stop()
