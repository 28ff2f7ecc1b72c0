"""A visitor's runs: the facts before one, its start, its buttons, and the recent runs of a tab."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, cast

import streamlit as st

from engine.config.run_config import RunConfig
from engine.estimate.device import CPU, device_in_words
from engine.estimate.prediction import predict
from engine.estimate.warnings import warnings_of
from engine.foundation.formatting import in_bytes, in_time
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.serving.protocol import Steering
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.visitor import mine, visitor

Action = Literal[Steering, "stop"]
RUN_KEY = "run"
RECENT = "recent runs"
MAX_RECENT_RUNS = 6  # above it, the oldest run that is not pinned is dropped


def show_facts(config: RunConfig) -> None:
    prediction = predict(config)
    facts = [f"**{prediction.parameters:,}** parameters", f"**{in_bytes(prediction.memory.total)}** memory per step"]
    seconds, device = prediction.seconds(config.steps), prediction.device.timed
    if seconds is not None:
        facts.append(f"about **{in_time(seconds)}**" + ("" if device == CPU else f" on {device}"))
    elif device != CPU:
        facts.append(f"time not measured on {device}")
    measured = f"Predicted. Memory: by formula. Time: from a short measurement on {device_in_words(device)} here."
    st.caption(" · ".join(facts), help=f"{measured} {prediction.device.why}".strip())
    for sentence in warnings_of(config):
        st.caption(f":material/info: {sentence}")


def start_run(config: RunConfig, *, pace: float | None = None, paused: bool = False) -> Run | None:
    """Return the run; None after a refusal, whose reason is shown (:func:`refused_in_words`)."""
    with refused_in_words():
        return server.pool().submit(RunRequest(config, visitor(), pace=pace, paused=paused))
    return None


def can_steer(run: Run | None) -> bool:
    return run is not None and run.live and mine(run.owner)


def steer(action: Action, run_id: str, pace: float | None = None) -> None:
    with refused_in_words():
        if action == "stop":
            server.pool().stop(run_id, visitor())
        else:
            server.pool().steer(run_id, action, visitor(), pace=pace)


def pause_button(run: Run | None) -> None:
    paused = run is not None and run.state == "paused" and mine(run.owner)
    steering_button("resume" if paused else "pause", run)


def steering_button(action: Action, run: Run | None) -> None:
    args = (action, run.id if run is not None else "")
    st.button(action.capitalize(), disabled=not can_steer(run), on_click=steer, args=args)


def say_watching(run: Run | None) -> None:
    if run is not None and run.live and not mine(run.owner):
        st.caption(":material/visibility: This is somebody else's run. Press Train to start your own.")


@dataclass
class RecentRuns:
    """The runs of one tab, the oldest first, and the visitor's choices for each."""

    runs: list[str] = field(default_factory=list)
    pinned: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    beside: str = ""  # the run whose attention is next to the current one's; empty for none

    def turn(self, what: Literal["pinned", "hidden"], run_id: str) -> None:
        chosen = self.pinned if what == "pinned" else self.hidden
        chosen.symmetric_difference_update({run_id})

    def add(self, run_id: str) -> None:
        if run_id not in self.runs:
            self.runs.append(run_id)
        while len(self.runs) > MAX_RECENT_RUNS:
            oldest = next((one for one in self.runs[:-1] if one not in self.pinned), self.runs[0])
            self.remove(oldest)

    def remove(self, run_id: str) -> None:
        """Remove a run from the list, without deleting it."""
        self.runs = [other for other in self.runs if other != run_id]
        self.pinned.discard(run_id)
        self.hidden.discard(run_id)
        if self.beside == run_id:
            self.beside = ""


def recent_runs_of_tab() -> RecentRuns:
    return cast(RecentRuns, st.session_state.setdefault(RECENT, RecentRuns()))


def shown_run() -> Run | None:
    run_id = st.session_state.get(RUN_KEY)
    return server.find(run_id) if run_id else None


def show_run(run_id: str) -> None:
    st.session_state[RUN_KEY] = run_id
    recent_runs_of_tab().add(run_id)


def list_recent_runs() -> list[Run]:
    """Return the recent runs, the latest first, without deleted runs and those that never started."""
    runs = [server.find(run_id) for run_id in reversed(recent_runs_of_tab().runs)]
    return [run for run in runs if run is not None and (run.events or run.id == st.session_state.get(RUN_KEY))]


def forget_run(run_id: str) -> None:
    if st.session_state.get(RUN_KEY) == run_id:
        del st.session_state[RUN_KEY]
    recent_runs_of_tab().remove(run_id)


@contextmanager
def in_step_with(state: Callable[[], object]) -> Iterator[None]:
    """Rerun the script if the state changes while the page is drawn, so that the buttons match."""
    before = state()
    yield
    if state() != before:
        st.rerun()
