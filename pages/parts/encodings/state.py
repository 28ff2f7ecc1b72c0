"""What is set on the page, kept in one place of the session, and its link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from engine.encodings import ENCODINGS
from engine.settings.errors import Problem
from engine.settings.fields import Setting, to_text
from engine.settings.reading import checked, leniently
from pages.parts.app.page_state import ModelSettings
from pages.parts.encodings.settings import BASE, SIDES, EncodingsState, settings

RUN, STEP, LAYER, NEEDED = "run", "step", "layer", "needs"
UNKNOWN = "a name this page knows with these encodings"


class EncodingsSettings(ModelSettings[EncodingsState]):
    """Two encodings decide what else there is to set. Of their own parameters only those that were set are kept."""

    def rows(self) -> Mapping[str, Setting]:
        return settings(self.values())

    def asked_for(self) -> dict[str, Any]:
        kept = self.values()
        return {name: kept.get(name, row.default) for name, row in settings(kept).items()}

    def take(self, name: str, value: Any) -> None:
        super().take(name, value)
        if name == RUN:  # another run has other steps and layers
            self.put({STEP: None, LAYER: None})

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        """What a link leaves out is as by default. The parameters of a side are checked by its encoding."""
        own = {name for name in query if name.startswith(tuple(f"{side}." for side in SIDES))}
        values, ignored = super().read({name: text for name, text in query.items() if name not in own})
        exist = settings(values)
        ignored += [Problem(name, query[name], UNKNOWN) for name in query if name in {*own, BASE} and name not in exist]
        for side in SIDES:
            given = {name[len(side) + 1 :]: query[name] for name in own & exist.keys() if name.startswith(f"{side}.")}
            found, problems = leniently(given, partial(checked, ENCODINGS[values[side]].settings))
            values |= {f"{side}.{name}": getattr(found, name) for name in given}
            ignored += [replace(problem, setting=f"{side}.{problem.setting}") for problem in problems]
        return values, ignored

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        """What is away from its default; what is looked at of a run, only where it is."""
        asked = self.asked_for()
        unseen = () if asked["view"] == "training" else (RUN, STEP, LAYER)
        return {
            name: to_text(asked[name])
            for name, row in self.rows().items()
            if asked[name] != row.default and name not in unseen
        }


SETTINGS = EncodingsSettings("encodings", EncodingsState)
read, values, widget_key = SETTINGS.read, SETTINGS.values, SETTINGS.widget_key


def value(name: str) -> Any:
    """What is set, or the default."""
    return SETTINGS.asked_for()[name]


def write_address() -> None:
    SETTINGS.write_address(SETTINGS.query())
