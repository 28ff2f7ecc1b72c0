"""The address of the issues page: which issue, how it is to be run, which experiment is looked at. It never starts one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from engine.experiments.experiment import MOST_SEEDS
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.settings.errors import Problem
from engine.settings.fields import whole_number
from pages.parts.app.address import take_link, write_link
from pages.parts.stage.experiments import EXPERIMENTS

ISSUE, EXPERIMENT = "issue", "experiment"
SEEDS, FIRST_SEED, EXTENDED = "seeds", "first_seed", "extended"
DEFAULTS: dict[str, int | bool] = {SEEDS: 8, FIRST_SEED: 0, EXTENDED: False}
LARGEST_FIRST_SEED = 10_000


def key_of(name: str) -> str:
    """The session key of the widget for a setting of the run."""
    return f"issues.{name}"


@dataclass(frozen=True)
class Asked:
    """What a query asks for, as far as it is allowed, and what was ignored."""

    slug: str | None
    experiment: str | None
    settings: dict[str, int | bool]
    ignored: list[Problem]


def read(query: Mapping[str, str]) -> Asked:
    ignored: list[Problem] = []
    slug, experiment = query.get(ISSUE), query.get(EXPERIMENT)
    if slug is not None and slug not in ISSUES:
        ignored.append(Problem(ISSUE, slug, "one of " + ", ".join(ISSUES)))
        slug = experiment = None
    if experiment is not None:
        found = EXPERIMENTS.find(experiment)
        if found is None or found.issue.slug != slug:
            ignored.append(Problem(EXPERIMENT, experiment, "one of this issue that this server still holds"))
            experiment = None
    settings: dict[str, int | bool] = {}
    for name, (low, high) in {SEEDS: (1, MOST_SEEDS), FIRST_SEED: (0, LARGEST_FIRST_SEED)}.items():
        if name in query:
            if (number := whole_number(query[name], low, high)) is not None:
                settings[name] = number
            else:
                ignored.append(Problem(name, query[name], f"a whole number from {low} to {high}"))
    if EXTENDED in query:
        if query[EXTENDED] in ("true", "false"):
            settings[EXTENDED] = query[EXTENDED] == "true"
        else:
            ignored.append(Problem(EXTENDED, query[EXTENDED], "true or false"))
    known = {ISSUE, EXPERIMENT, *DEFAULTS}
    ignored += [Problem(name, value, "a name this page knows") for name, value in query.items() if name not in known]
    return Asked(slug, experiment, settings, ignored)


def open_address() -> Asked:
    """What the address asks for. A link is taken at its word once: its settings go into the widgets, its experiment is
    looked at; from then on the page decides.
    """
    asked = read(st.query_params.to_dict())
    linked = take_link("issues") is not None
    for name, default in DEFAULTS.items():
        if linked and name in asked.settings:
            st.session_state[key_of(name)] = asked.settings[name]
        st.session_state.setdefault(key_of(name), default)
    return asked if linked else Asked(asked.slug, None, {}, [])


def write_address(issue: Issue | None, experiment: str | None) -> None:
    """Keep the address a link to what is on the page; what is as by default is left out."""
    query: dict[str, str] = {}
    if issue is not None:
        query[ISSUE] = issue.slug
        for name, default in DEFAULTS.items():
            value = st.session_state.get(key_of(name), default)
            if value != default:
                query[name] = str(value).lower()
        if experiment is not None:
            query[EXPERIMENT] = experiment
    write_link("issues", query)
