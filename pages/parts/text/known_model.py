"""nanoGPT's small model of characters, which many have trained first: where there is a GPU it trains live beside the loss that nanoGPT
reports; elsewhere one sentence says why it does not."""

from collections.abc import Mapping

import streamlit as st

from engine.config.presets import NANOGPT
from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.foundation.formatting import in_time
from engine.hosting.limits import Accelerator, Limits, refusal
from engine.runs.events import Progress
from engine.runs.run import Run
from engine.workers.runs.memory import largest_accelerator
from pages.parts.app import server
from pages.parts.app.fragment import as_fragment
from pages.parts.app.in_markdown import in_markdown
from pages.parts.text.state import POLL_SECONDS, train, while_it_trains

THERE = "nanoGPT's small model trains live here where there is a GPU"


def offer() -> None:
    """One line: the button that trains it, or why there is none. While the first workers start it waits for what they tell."""
    pool = server.pool()
    health = pool.health()
    if not health.ready:
        as_fragment(_wait, every=POLL_SECONDS)
        return
    if why := why_not(largest_accelerator(health.workers), pool.limits):
        st.caption(f":material/memory: {in_markdown(why)}")
        return
    seconds = predict(NANOGPT.config).seconds(NANOGPT.config.steps)
    time = "" if seconds is None else f" It takes about {in_time(seconds)}."
    st.button(
        "Train nanoGPT's small model", icon=":material/memory:", type="tertiary", on_click=train, args=(NANOGPT.config,),
        help=f"{NANOGPT.config.n_layers} layers of width {NANOGPT.config.d_model}, by character.{time}",
    )  # fmt: skip


def _wait() -> None:
    if server.pool().health().ready:
        st.rerun()
    st.caption(f":material/memory: {THERE}.")


def why_not(accelerator: Accelerator | None, limits: Limits) -> str:
    """One sentence on why the model does not train here; empty where it does."""
    config = NANOGPT.config
    if accelerator is None:
        seconds = predict(config.replace(device="cpu")).seconds(config.steps)
        here = f"; on one CPU core of this machine it would take about {in_time(seconds)}" if seconds else ""
        return f"{THERE}{here}."
    sentence = refusal(config, predict(config), limits, predict, accelerator)
    return f"nanoGPT's small model does not train here: {sentence}" if sentence else ""


def is_known(config: RunConfig) -> bool:
    """Whether a run is one of this model."""
    return config == NANOGPT.config


def published_level() -> Mapping[str, tuple[str, float]]:
    """The loss that nanoGPT reports, for a line across the figure of the loss."""
    told = NANOGPT.published
    return {f"{told.name}, as reported": (told.name, told.loss)} if told else {}


def show_published(run: Run) -> None:
    """What nanoGPT reports, what differs here, and the run's own loss, updated while it trains."""
    st.markdown(in_markdown(NANOGPT.look_at), help=NANOGPT.published.source if NANOGPT.published else None)
    while_it_trains(_say_loss, run)


def _say_loss(run: Run) -> None:
    looks = [event for event in run.events.landmarks() if isinstance(event, Progress) and event.validation is not None]
    losses = [(event.validation["loss"], event.step) for event in looks if event.validation is not None]
    if not losses:
        st.markdown(":material/pending: The run has just begun.")
        return
    (now, at), (lowest, lowest_at) = losses[-1], min(losses)
    st.markdown(
        f"This run: **{now:.2f}** nats per character on held-out plays after {at:,} of {run.config.steps:,} steps; the lowest was "
        f"{lowest:.2f}, after {lowest_at:,}."
    )
