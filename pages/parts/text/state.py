"""What the text page asks for, and the run that is looked at. A link names both and never starts a run."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import streamlit as st

from engine.config.run_config import RunConfig, settings_for
from engine.config.text_recipe import CHOSEN, RECIPE, TASK, text_config
from engine.runs.run import Run
from engine.settings.errors import ConfigError, Problem, no_setting
from engine.settings.fields import Setting, to_text
from engine.tasks.text import user_texts
from pages.parts.app.frame import as_fragment
from pages.parts.app.page_state import PageSettings
from pages.parts.app.recent_runs import start_run
from pages.parts.app.server import find

RUN = "text.run"
"""Session key of the id of the run shown."""
RUN_NAME = "run"
PLAYS = "shakespeare"
POLL_SECONDS = 1.0
"""Seconds between two looks at a live run's validation."""
ANSWER_SECONDS = 180.0
"""Seconds to wait for an answer: enough for a text of a million tokens on a busy machine."""


class TextPageSettings(PageSettings):
    """Four settings of a config; the recipe decides the others."""

    def defaults(self) -> dict[str, Any]:
        return chosen_of(text_config())

    def rows(self) -> Mapping[str, Setting]:
        return self._rows

    @cached_property
    def _rows(self) -> dict[str, Setting]:
        rows = {row.name: row for row in settings_for(TASK, RECIPE["pos_encoding"])}
        rows["vocab_size"] = replace(rows["vocab_size"], label="Vocabulary")
        return {name: rows[name] for name in CHOSEN}

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        """Settings in a link win over those of the run it names."""
        run, ignored = run_in_link(query)
        values = self.defaults() if run is None or run.config.task != TASK else chosen_of(run.config)
        for name, given in query.items():
            if name in CHOSEN:
                try:
                    values[name] = read_setting(name, given)
                except ConfigError as error:
                    ignored += error.problems
            elif name != RUN_NAME:
                ignored.append(no_setting(name, given, [*CHOSEN, RUN_NAME]))
        return values, ignored


SETTINGS = TextPageSettings("text.form", widgets="text.set.")


def chosen_of(config: RunConfig) -> dict[str, Any]:
    return {name: config.value(name) for name in CHOSEN}


def read_setting(name: str, given: str) -> Any:
    """The value that a link gives. Raises ConfigError where it is not allowed, or is a text that is not kept here."""
    value = text_config(**{name: given}).value(name)
    if name == "text" and value != PLAYS:
        try:
            user_texts.read(str(value))  # named here, not where it would be trained on
        except ValueError:
            allowed = f"{PLAYS}, or the name of a text of your own that is kept here"
            raise ConfigError([Problem(name, given, allowed)]) from None
    return value


def run_in_link(query: Mapping[str, str]) -> tuple[Run | None, list[Problem]]:
    """The run that a link names: one on words."""
    if RUN_NAME not in query:
        return None, []
    run, allowed = find(query[RUN_NAME]), "the name of a run that is kept here"
    if run is not None:
        if run.config.task == TASK:
            return run, []
        allowed = f"a run of task {TASK}; this one is of {run.config.task}"
    return None, [Problem(RUN_NAME, query[RUN_NAME], allowed)]


def form_config() -> RunConfig:
    """Raises ConfigError where the values do not fit together."""
    return text_config(**SETTINGS.values())


def train(config: RunConfig) -> None:
    """Start a run and look at it, unless it is refused."""
    if run := start_run(config):
        st.session_state[RUN] = run.id


def while_it_trains(draw: Callable[[Run], None], run: Run) -> None:
    """Draw something of a run, again and again while it goes on."""
    as_fragment(draw, run, every=POLL_SECONDS if run.state in ("queued", "running") else None)


def shown_text_run() -> Run | None:
    return find(st.session_state.get(RUN) or "")


def weights_of(run: Run) -> str:
    """The path of a run's weights; empty where it has none."""
    return str(run.weights or "")


def address() -> dict[str, str]:
    """The query of what is on the page; what is as by default is left out unless the run has it otherwise."""
    run = shown_text_run()
    if run is None:
        return SETTINGS.query()
    user_texts = SETTINGS.query(run.config.flat()) if run.config.task == TASK else SETTINGS.query()
    return user_texts | {RUN_NAME: run.id}


def share_link() -> str:
    """Every choice stated, so that later defaults change nothing."""
    return SETTINGS.share_link({name: to_text(value) for name, value in SETTINGS.values().items()} | address())
