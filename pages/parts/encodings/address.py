"""What is set on the page, kept in one place of the session, and its link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.experiments.properties import NEEDS
from engine.runs.store import RUN_ID
from engine.settings.errors import Problem
from engine.settings.fields import Setting, to_text, whole_number
from pages.parts.app.page_state import PageSettings
from pages.parts.encodings.settings import read_value, settings

RUN, STEP, LAYER, NEEDED = "run", "step", "layer", "needs"
RECORDED = "recorded"
MOST = {STEP: 1_000_000, LAYER: 48}
"""The numbers that a link to a run holds; layers count from 1, and the nearest that the run has is shown."""


class EncodingsSettings(PageSettings):
    """Two encodings decide what else there is to set. Only what was set is kept."""

    def defaults(self) -> dict[str, Any]:
        return {}

    def rows(self) -> Mapping[str, Setting]:
        return settings(self.values())

    def asked_for(self) -> dict[str, Any]:
        kept = self.values()
        return {name: kept.get(name, row.default) for name, row in settings(kept).items()}

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        """What a link leaves out is as by default."""
        found: dict[str, Any] = {}
        ignored: list[Problem] = []
        chosen = {side: query[side] for side in ("a", "b") if side in query}
        for name, text in sorted(
            query.items(), key=lambda pair: pair[0] not in ("a", "b")
        ):  # they decide what else there is
            rows = settings(found)
            try:
                if name in rows:
                    found[name] = read_value(rows[name], text)
                elif name == RUN and (text == RECORDED or RUN_ID.fullmatch(text)):
                    found[RUN] = text
                elif name in MOST and (number := whole_number(text, 0, MOST[name])) is not None:
                    found[name] = number
                elif name == NEEDED and set(text.split(",")) <= set(NEEDS):
                    found[NEEDED] = text.split(",")
                else:
                    ignored.append(Problem(name, text, _allowed(name, chosen)))
            except ValueError:
                ignored.append(Problem(name, text, rows[name].allowed))
        return found, ignored

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        """What is away from its default, the needs, and what is looked at of a run."""
        kept, asked = self.values(), self.asked_for()
        found = {name: to_text(asked[name]) for name, row in self.rows().items() if asked[name] != row.default}
        if asked["view"] == "training":
            found |= {name: str(kept[name]) for name in (RUN, STEP, LAYER) if kept.get(name) is not None}
        return found | ({NEEDED: ",".join(kept[NEEDED])} if kept.get(NEEDED) else {})


def _allowed(name: str, chosen: Mapping[str, str]) -> str:
    more = {
        RUN: f"{RECORDED}, or the name of a run",
        **{number: f"a whole number up to {most}" for number, most in MOST.items()},
        NEEDED: "some of " + ", ".join(NEEDS) + ", separated by commas",
    }
    return more.get(name) or "a name this page knows with these encodings"


SETTINGS = EncodingsSettings("encodings")
read, values, widget_key = SETTINGS.read, SETTINGS.values, SETTINGS.widget_key


def value(name: str) -> Any:
    """What is set, or the default."""
    return SETTINGS.asked_for()[name]


def write_address() -> None:
    SETTINGS.write_address(SETTINGS.query())
