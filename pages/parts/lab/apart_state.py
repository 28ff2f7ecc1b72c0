"""The settings of “Take it apart”: the head, position and text that are selected in the picture, and the changes to the
model. A link has them with ``apart.`` before each name; the view is ``apart``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
import streamlit as st
from pydantic import AfterValidator, field_validator

from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import FAULTS, AttentionKind, ModelRequest, SampleRequest
from engine.config.run_config import RunConfig
from engine.runs.run import Run
from engine.settings.errors import Problem
from engine.settings.fields import setting
from pages.parts.app.page_state import ModelSettings, PageState, all_known, not_allowed
from pages.parts.boards.component import Json
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.attention import pattern_picture

APART = "apart"
OPEN = "apart.open"  # key of the expander; its session value is True while it is open
VIEWS = {"steps": "Steps", "heads": "Heads", "change": "Change", "faults": "Faults", "depth": "Depth"}
MAX_TEXT_CHARACTERS = 2000
MAX_LAYERS, MAX_HEADS, MAX_POSITIONS = 48, 64, 4096
KINDS: dict[AttentionKind, str] = {"self": "Self-attention", "encoder": "Encoder", "cross": "Cross-attention"}
HEAD = re.compile(rf"({'|'.join(KINDS)})(\.[0-9]{{1,3}}){{2}}")
TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
# columns and rows of a figure; figures with a common name highlight together
CELLS, KEYS_ACROSS, KEYS_DOWN = ("key", "query"), ("key", ""), ("", "key")
SELECTION = ("which", "layer", "head", "position", "text")  # selected in the picture
REMOVED_NAMES = MappingProxyType(
    {
        "exchanged": "Exchanging a path between two sequences was removed. Switch heads off to see their effect.",
        "sample": "Type a sequence into the picture instead.",
        **dict.fromkeys(
            ("step", "before", "after"), "The trained model is taken apart as it is at the end of its run."
        ),
    }
)


class ApartState(PageState):
    """Layers, heads and positions count from 1, as shown; None is the picture's default."""

    REMOVED = REMOVED_NAMES

    # fmt: off
    view: Literal["steps", "heads", "change", "faults", "depth"] = setting("steps", label="View", help="", labels=VIEWS)
    which: AttentionKind = setting("self", label="Attention", help="", labels={name: KINDS[name] for name in KINDS})
    layer: int | None = setting(None, label="Layer", help="", ge=1, le=MAX_LAYERS)
    head: int | None = setting(None, label="Head", help="", ge=1, le=MAX_HEADS)
    position: int | None = setting(None, label="Query", help="Position of the reading token.", ge=1, le=MAX_POSITIONS)
    text: str = setting("", label="Own sequence", help="Leave empty for a held-out sequence.")
    temperature: float = setting(
        1.0, label="Temperature of every softmax", ge=TEMPERATURES[0], le=TEMPERATURES[-1],
        help="Divides the scores. Below 1 the weights get sharper, above 1 flatter.",
    )
    off: tuple[str, ...] = setting((), label="Heads switched off", help="A head that is off outputs zeros.")
    """As ``self.1.2``: kind, layer, head."""
    faults: Annotated[tuple[str, ...], AfterValidator(lambda names: all_known(names, FAULTS))] = setting((), label="Faults", help="")
    # fmt: on

    @field_validator("text")
    @classmethod
    def _short(cls, text: str) -> str:
        if len(text) > MAX_TEXT_CHARACTERS:
            raise not_allowed(f"at most {MAX_TEXT_CHARACTERS} characters")
        return text

    @field_validator("temperature")
    @classmethod
    def _listed(cls, value: float) -> float:
        if value not in TEMPERATURES:
            raise not_allowed("one of " + ", ".join(f"{listed:g}" for listed in TEMPERATURES))
        return value

    @field_validator("off")
    @classmethod
    def _heads(cls, heads: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(HEAD.fullmatch, heads)):
            raise not_allowed("heads as self.1.2 (kind, layer, head), separated by commas")
        return heads


SETTINGS = ModelSettings("apart", ApartState)


# The link and the picture


def of_apart(name: str) -> bool:
    return name.partition(".")[0] == APART


def take_apart(link: Mapping[str, str]) -> list[Problem]:
    """Open the section if a link names it, else close it. Return the link's problems."""
    if not link:
        return []
    specific = {name.partition(".")[2] or "view": text for name, text in link.items() if of_apart(name)}
    values, ignored = SETTINGS.read(specific)
    SETTINGS.fill(values)
    st.session_state[OPEN] = bool(specific)
    return [replace(one, setting=APART if one.setting == "view" else f"{APART}.{one.setting}") for one in ignored]


def apart_query() -> dict[str, str]:
    """Return the link's part for the section, empty while it is closed."""
    if not st.session_state.get(OPEN):
        return {}
    specific = {f"{APART}.{name}": text for name, text in SETTINGS.query().items() if name != "view"}
    return {APART: SETTINGS.state().view, **specific}


def apart_message() -> Json:
    values = SETTINGS.values()
    return {"open": bool(st.session_state.get(OPEN)), **{name: values[name] for name in SELECTION}}


def choose(request: Mapping[str, Any]) -> None:
    values, _ = SETTINGS.read({name: str(request[name]) for name in SELECTION if request.get(name) is not None})
    SETTINGS.put({name: values[name] for name in SELECTION})
    if request.get("open"):
        st.session_state[OPEN] = True


# What the views show


@dataclass(frozen=True)
class Inspected:
    run: Run
    now: ApartState
    part: Part
    queries: list[str]
    keys: list[str]
    query: int  # from 0
    color: str

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def model(self) -> ModelRequest:
        return ModelRequest(self.config, str(self.run.weights))

    @property
    def sample(self) -> SampleRequest:
        return SampleRequest(text=self.now.text)

    @property
    def head(self) -> str:
        return name_of_head(self.part)

    def show(self, key: str, name: str, items: Sequence[Panel], *, least: int = 300, **more: Any) -> None:
        """Show the figures of a view; zoom survives while run and sequence are the same."""
        subject = f"{self.run.id} {self.part.which} {len(self.queries)} {len(self.keys)}"
        panels(items, key=f"apart.{key}", name=name, subject=subject, least=least, **more)

    def pattern_panel(
        self, id: str, title: str, pattern: np.ndarray, alt: str, *, framed: bool = True, bar: bool = True, **more: Any
    ) -> Panel:
        """Return a panel of a pattern [query, key]. ``framed``: with a frame around the query."""
        query = self.query if framed else None
        drawn = pattern_picture(pattern, self.queries, self.keys, query=query, bar=bar)
        usual: dict[str, Any] = {"height": 340, "link": CELLS}
        return Panel(id, title, drawn, alt, **usual | more)


def name_of_head(part: Part) -> str:
    kind = {"self": "", "encoder": "enc ", "cross": "cross "}[part.which]
    return f"{kind}L{part.layer + 1} H{part.head + 1}"


def held_out_label(name: str) -> str:
    return {"loss": "Held-out loss (nats)"}.get(name, name.replace("_", " ").capitalize())
