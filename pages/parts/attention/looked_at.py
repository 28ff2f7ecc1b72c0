"""What every view of the attention page is given."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from engine.config import RunConfig
from engine.explore.attention_asked import ModelAsked, Place, SampleAsked
from engine.runs import Run
from pages.parts.attention.chosen import Chosen
from pages.parts.table import table

LINE, TALLEST = 39, 720
"""Pixels: a line of a table, and the tallest table shown whole."""
TABLE = "attention-table"
"""The frame's key. Its lines are one line high: wrapped ones would leave a phone a single row to see."""
STYLE = f"<style>.st-key-{TABLE} :is(th, td) {{ white-space: nowrap }}</style>"
CELLS, KEYS_ACROSS, KEYS_DOWN = ("key", "query"), ("key", ""), ("", "key")
"""What columns and rows of a picture are, for those that point together."""
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|$~:])")


@dataclass(frozen=True)
class LookedAt:
    run: Run
    model: ModelAsked
    now: Chosen
    place: Place
    sample: SampleAsked
    queries: list[str]
    keys: list[str]
    query: int
    color: str

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def subject(self) -> str:
        """What keeps zoom: another run or another sequence is another picture."""
        return f"{self.now.run} {self.place.which} {len(self.queries)} {len(self.keys)}"


def shown(token: str) -> str:
    """A token as text in Markdown."""
    return SPECIAL.sub(r"\\\1", token)


def show_table(head: list[str], rows: list[list[str]]) -> None:
    """A table in a frame of its own: what is too wide for a phone, or too long, scrolls there."""
    st.html(STYLE)
    with st.container(height=min(TALLEST, LINE * (len(rows) + 1) + 24), border=False, key=TABLE):
        st.markdown(table(head, rows))


def metric_label(name: str) -> str:
    return {"loss": "Held-out loss (nats)"}.get(name, name.replace("_", " ").capitalize())
