"""What is set on the issues page: which issue, how it is to be run, which run is looked at. A link never starts one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st
from pydantic import field_validator
from pydantic_core import PydanticCustomError

from engine.experiments.issues import ISSUES
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import setting
from pages.parts.app.page_state import ModelSettings, PageState
from pages.parts.stage.experiments import EXPERIMENTS, seeds_setting
from pages.parts.stage.issue_list import shown_run, shown_runs

ISSUE, EXPERIMENT = "issue", "experiment"


class IssueState(PageState):
    issue: str | None = None
    seeds: int = seeds_setting()
    first_seed: int = setting(
        0, label="First seed", help="The seeds are this one and those that follow.", ge=0, le=10_000
    )
    extended: bool = setting(False, label="Extended", help="Also the arms that take longer.")
    experiment: str | None = None

    @field_validator("issue")
    @classmethod
    def _known(cls, slug: str | None) -> str | None:
        if slug is not None and slug not in ISSUES:
            raise PydanticCustomError("choice", "one of " + ", ".join(ISSUES))
        return slug

    @field_validator("extended", mode="before")
    @classmethod
    def _true_or_false(cls, given: object) -> object:
        if isinstance(given, str) and given not in ("true", "false"):
            raise PydanticCustomError("choice", "true or false")
        return given


def _check(state: IssueState) -> None:
    """A link names a run together with its issue."""
    if state.experiment is not None:
        run = EXPERIMENTS.find(state.experiment)
        if run is None or run.experiment.slug != state.issue:
            allowed = "a run that this server still holds; its trials are kept, and Run goes on from them"
            raise ConfigError([Problem(EXPERIMENT, state.experiment, allowed)])


class IssueSettings(ModelSettings[IssueState]):
    """Settings go along from issue to issue: what a link leaves out stays as it is. Each issue keeps its run in sight."""

    def controls(self) -> Collection[str]:
        return self.rows().keys()

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        read, ignored = super().read(query)
        given = (query.keys() & read.keys()) - {problem.setting for problem in ignored}
        return {**self.values(), **{name: read[name] for name in given}}, ignored

    def open_address(self) -> tuple[dict[str, str], list[Problem]]:
        """The address says at any time which issue is shown: a link to the map is empty."""
        link, ignored = super().open_address()
        slug = st.query_params.get(ISSUE)
        named = self.values()[EXPERIMENT]
        if named is not None:
            shown_runs()[self.values()[ISSUE]] = named
        self.put({ISSUE: slug if slug in ISSUES else None, EXPERIMENT: None})
        return link, ignored

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        """The map's is empty; an issue's names its run as long as this server holds it."""
        slug = self.values()[ISSUE]
        if slug is None:
            return {}
        name, run = shown_run(ISSUES[slug])
        return super().query(*others) | ({EXPERIMENT: name} if run is not None else {})


SETTINGS = IssueSettings("issues", IssueState, _check)
