"""The choices of the attention page: one frozen value in the session, which outlives the page and its widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine.analysis.attention_asked import Place, SampleAsked, Which, places_in
from engine.config.run_config import RunConfig
from pages.parts.boards.panels import Picked

STATE = "attention"
RECORDED = "recorded"
"""The name of the run that comes with the app, used instead of an id."""
VIEWS = {
    "steps": "Steps",
    "heads": "Heads",
    "change": "Change",
    "training": "Training",
    "faults": "Faults",
}
EXPLAINED = {
    "steps": "One query of one head, from its vector to what the head hands on. All numbers are the model's own.",
    "heads": "Where every head looks, how wide and how far, and what kind of head that makes it.",
    "change": "Change attention in the trained model and see what it costs on held-out sequences. The weights stay as they are.",
    "training": "The same head at two steps of its training, reading the same sequence.",
    "faults": "Each switch breaks the forward pass of this model on purpose; its weights stay. Every test is run anew on what you see.",
}
KINDS: dict[Which, str] = {"self": "Self-attention", "encoder": "Encoder", "cross": "Cross-attention"}
TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True)
class Chosen:
    """The choices. Layers and heads count from 1, as shown; queries and samples from 0. None is the run's own default."""

    run: str = ""
    """An id, or ``RECORDED``; empty for the reader's newest run."""
    view: str = "steps"
    which: Which = "self"
    layer: int | None = None
    head: int | None = None
    query: int | None = None
    sample: int = 0
    text: str = ""
    step: int | None = None
    before: int | None = None
    after: int | None = None
    temperature: float = 1.0
    off: tuple[str, ...] = ()
    """The heads switched off, as ``self.1.2``: kind, layer, head."""
    faults: tuple[str, ...] = ()


def chosen() -> Chosen:
    value: Chosen = st.session_state.setdefault(STATE, Chosen())
    return value


def choose(**changes: Any) -> None:
    """Change some choices. Another run starts from its own defaults; the view stays."""
    before = chosen()
    if changes.get("run", before.run) != before.run:
        before = Chosen(view=before.view)
    st.session_state[STATE] = replace(before, **changes)


def pick_query(picked: Picked) -> None:
    """Make the picked row of the pattern the new query."""
    choose(query=int(float(picked.y)))


def fitted(now: Chosen, config: RunConfig) -> Chosen:
    """The choices with defaults for those that this run does not have; the default layer is the last."""
    which = now.which if now.which in places_in(config) else "self"
    layer = now.layer if now.layer is not None and now.layer <= config.n_layers else config.n_layers
    head = now.head if now.head is not None and now.head <= config.n_heads else min(2, config.n_heads)
    return replace(now, which=which, layer=layer, head=head)


def place_of(now: Chosen) -> Place:
    return Place(now.which, (now.layer or 1) - 1, (now.head or 1) - 1)


def sample_of(now: Chosen) -> SampleAsked:
    return SampleAsked(now.sample, now.text)


def name_of_head(place: Place) -> str:
    kind = {"self": "", "encoder": "enc ", "cross": "cross "}[place.which]
    return f"{kind}L{place.layer + 1} H{place.head + 1}"


def key_of(name: str) -> str:
    return f"attention.{name}"


def bound(name: str, value: Any) -> dict[str, Any]:
    """Arguments that bind a widget to one of the choices; ``value`` is the shown value."""
    st.session_state[key_of(name)] = value
    return {"key": key_of(name), "on_change": _take, "args": (name,)}


def _take(name: str) -> None:
    value = st.session_state[key_of(name)]
    choose(**{name: tuple(value) if isinstance(value, list) else value})
