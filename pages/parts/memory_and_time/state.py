"""What is set on the page and which measurement is looked at. A link to it never starts one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import field_validator
from pydantic_core import PydanticCustomError

from engine.settings.errors import Problem
from engine.settings.reading import checked
from engine.sweeps.plan import Plan, read_plan
from pages.parts.app.page_state import ModelSettings, PageState
from pages.parts.memory_and_time.sweeps import result_of
from pages.parts.memory_and_time.view import View


class CostState(PageState, Plan, View):
    """What is measured, what is shown beside it, and the measurement."""

    sweep: str | None = None

    @field_validator("sweep")
    @classmethod
    def _kept(cls, name: str | None) -> str | None:
        if name is not None and result_of(name) is None:
            raise PydanticCustomError("choice", "a measurement that is kept here")
        return name


class CostSettings(ModelSettings[CostState]):
    """A link that names a measurement and nothing of its plan opens with the plan that was measured."""

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        values, ignored = super().read(query)
        found = result_of(values["sweep"]) if values["sweep"] else None
        if found is not None and query.keys().isdisjoint(Plan.model_fields):
            values |= found.plan.model_dump()
        return values, ignored

    def controls(self) -> Collection[str]:
        return CostState.model_fields.keys() - {"sweep"}


def _of(model: type[Plan] | type[View], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in model.model_fields}


SETTINGS = CostSettings("costs", CostState, lambda state: read_plan(_of(Plan, state.model_dump())))


def plan() -> Plan:
    """Raises ConfigError where the settings do not go together."""
    return read_plan(_of(Plan, SETTINGS.values()))


def view() -> View:
    return checked(View, _of(View, SETTINGS.values()))
