"""The reader's choices: parts, rivals, tasks, seeds. They outlive the page, and they are the page's link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from engine.config.run_config import parse_leniently
from engine.encodings.designed.spec import DesignedSettings
from engine.experiments import design_store
from engine.experiments.comparison import BASE, DESIGN, MOST_RIVALS, RIVALS, TASKS, USUAL, Comparison
from engine.experiments.experiment import MOST_SEEDS
from engine.settings.errors import Problem
from engine.settings.fields import Setting, settings_in, to_text, whole_number
from pages.parts.stage.experiments import EXPERIMENTS

KEY = "design"
"""The session key of the choices."""
AGAINST, ON, SEEDS, EXPERIMENT = "against", "tasks", "seeds", "experiment"
USUAL_SEEDS = 8
PARTS: dict[str, Setting] = {row.name: row for row in settings_in(DesignedSettings)}


@dataclass(frozen=True)
class Choice:
    parts: Mapping[str, Any] = field(default_factory=lambda: {name: row.default for name, row in PARTS.items()})
    against: tuple[str, ...] = USUAL
    tasks: tuple[str, ...] = tuple(TASKS)
    seeds: int = USUAL_SEEDS
    experiment: str | None = None
    """The name of the shown experiment, running or stored (see :class:`Comparison`)."""

    @property
    def design(self) -> DesignedSettings:
        return DesignedSettings(**self.parts)

    @property
    def comparison(self) -> Comparison:
        """The comparison that Run starts."""
        return Comparison(dict(self.parts), self.against, self.tasks, self.seeds)


def choice() -> Choice:
    made: Choice = st.session_state.setdefault(KEY, Choice())
    return made


def choose(**changes: Any) -> None:
    st.session_state[KEY] = replace(choice(), **changes)


def set_part(name: str, value: Any) -> None:
    """Set one part, and change others that allow only one value with it."""
    choose(parts=fitting({**choice().parts, name: value}))


def fitting(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Parts that go together: a convolution acts on the embedding; in a rotation the features are the angles."""
    fixed = dict(parts)
    if fixed["design_features"] == "convolution":
        fixed["design_place"] = "embedding"
    if fixed["design_place"] == "rotation":
        fixed["design_readout"] = "direct"
    return fixed


def chosen_as(asked: Comparison, name: str) -> Choice:
    return Choice({**Choice().parts, **asked.parts}, asked.against, asked.tasks, asked.seeds, name)


def to_query(made: Choice) -> dict[str, str]:
    """The query of the choices, without those at their defaults."""
    usual = Choice()
    query = {name: to_text(value) for name, value in made.parts.items() if value != PARTS[name].default}
    lists = {AGAINST: (made.against, usual.against), ON: (made.tasks, usual.tasks)}
    query |= {name: ",".join(chosen) for name, (chosen, default) in lists.items() if chosen != default}
    if made.seeds != usual.seeds:
        query[SEEDS] = str(made.seeds)
    if made.experiment is not None:
        query[EXPERIMENT] = made.experiment
    return query


def from_query(query: Mapping[str, str]) -> tuple[Choice, list[Problem]]:
    """The choices of a link as far as they are allowed, and the problems that were ignored. Nothing is started."""
    own = {name: text for name, text in query.items() if name in PARTS}
    config, ignored = parse_leniently({**BASE, "pos_encoding": DESIGN, **own})
    parts = {name: config.value(name) for name in PARTS}
    made = Choice(parts=parts)
    for name, allowed, most in ((AGAINST, RIVALS, MOST_RIVALS), (ON, tuple(TASKS), len(TASKS))):
        if name in query:
            given = tuple(query[name].split(","))
            if set(given) <= set(allowed) and 1 <= len(given) == len(set(given)) <= most:
                made = replace(made, against=given) if name == AGAINST else replace(made, tasks=given)
            else:
                ignored.append(Problem(name, query[name], f"1 to {most} different ones of {', '.join(allowed)}"))
    if SEEDS in query:
        if (seeds := whole_number(query[SEEDS], 1, MOST_SEEDS)) is not None:
            made = replace(made, seeds=seeds)
        else:
            ignored.append(Problem(SEEDS, query[SEEDS], f"a whole number from 1 to {MOST_SEEDS}"))
    if EXPERIMENT in query:
        name = query[EXPERIMENT]
        kept = design_store.find(name)
        if kept is None and EXPERIMENTS.find(name) is None:
            ignored.append(Problem(EXPERIMENT, name, "one that goes here or is kept on this machine"))
        elif kept is not None and len(query) == 1:  # the link names only the experiment: use its settings
            made = chosen_as(kept[0], name)
        else:
            made = replace(made, experiment=name)
    known = {*PARTS, AGAINST, ON, SEEDS, EXPERIMENT}
    ignored += [Problem(name, text, "a name this page knows") for name, text in query.items() if name not in known]
    return made, ignored
