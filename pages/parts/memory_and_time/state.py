"""What is set on the page, its widgets, and the measurements of this server process and the stored ones. A link never starts one."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal

import streamlit as st
from pydantic import field_validator

from engine.settings.errors import Problem
from engine.settings.fields import Parameters, setting
from engine.sweeps import KINDS, store
from engine.sweeps.plan import Plan, read_plan
from engine.sweeps.result import Result
from engine.sweeps.sweep import Sweep
from pages.parts.app.page_state import ModelSettings, PageState, not_allowed
from pages.parts.app.task_registry import TaskRegistry

GIB = 2**30
SWEEPS: TaskRegistry[Sweep] = TaskRegistry("sweep")


class CostView(Parameters):
    """Settings that change no measured number. Frozen."""

    # fmt: off
    part_of: Literal["materialised", "fused", "gru", "lstm", "cnn"] = setting(
        "materialised", "Parts of", "Whose memory is taken apart.", labels={name: row.label for name, row in KINDS.items()},
    )
    memory: float = setting(16.0, "Memory (GiB)", "Of the device that it has to fit in.", ge=0.001, le=100_000.0)
    seconds: float = setting(1.0, "Time of a step (s)", "How long one training step may take.", ge=0.001, le=3600.0)
    # fmt: on

    @property
    def bytes(self) -> int:
        """The memory limit in bytes."""
        return int(self.memory * GIB)


def begin_sweep(sweep: Sweep) -> str:
    """Start a sweep, whose result is stored also after a stop; returns its name. Where the visitor has one of the same plan running,
    it returns that one's: two presses start one. Raises Refused where the visitor has another one running."""

    def keep(name: str) -> None:
        if sweep.result.visits:
            store.keep(name, sweep.result, sweep.visitor)

    same = SWEEPS.running_of(sweep.visitor, lambda other: other.plan == sweep.plan)
    return SWEEPS.begin(sweep, name=same, keep=keep)


def sweep_result(name: str) -> Result | None:
    """The result of a running or stored sweep; None where there is none of that name."""
    sweep = SWEEPS.find(name)
    return sweep.result if sweep is not None else store.find(name)


class CostState(PageState, Plan, CostView):
    """What is measured, what is shown beside it, and the measurement."""

    REMOVED = MappingProxyType(
        dict.fromkeys(
            ("models", "precision", "context", "sequences", "written"),
            "The estimates for well-known models were removed; the table is of the model above.",
        )
    )

    sweep: str | None = None

    @field_validator("sweep")
    @classmethod
    def _kept(cls, name: str | None) -> str | None:
        if name is not None and sweep_result(name) is None:
            raise not_allowed("a measurement that is kept here")
        return name

    def plan(self) -> Plan:
        """What is to be measured. Raises ConfigError where the settings do not go together."""
        return read_plan({name: getattr(self, name) for name in Plan.model_fields})

    def check(self) -> None:
        self.plan()


class CostSettings(ModelSettings[CostState]):
    """A link that names a measurement and nothing of its plan opens with the plan that was measured."""

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        values, ignored = super().read(query)
        found = sweep_result(values["sweep"]) if values["sweep"] else None
        if found is not None and query.keys().isdisjoint(Plan.model_fields):
            values |= found.plan.model_dump()
        return values, ignored

    def controls(self) -> Collection[str]:
        return CostState.model_fields.keys() - {"sweep"}


SETTINGS = CostSettings("costs", CostState)
ALONG = {"length": ("longest", "n_layers"), "depth": ("deepest", "seq_len")}
"""What is asked for on each axis: how far to go, and what stays."""


def plan_settings(*, has_accelerator: bool, disabled: bool) -> None:
    """What is measured; all but the axis stands behind a heading."""
    values = SETTINGS.values()
    with st.container(width=180):
        widget("axis", disabled=disabled)
    with st.popover("More", icon=":material/tune:"):
        if SETTINGS.drawn("kinds"):
            st.pills(
                "Models", list(KINDS), selection_mode="multi", wrap=True, format_func=lambda name: KINDS[name].label,
                default=SETTINGS.first_value("kinds"), **SETTINGS.bound("kinds", disabled=disabled),
            )  # fmt: skip
        with st.grid(3, min_column_width=110):
            for name in (*ALONG[values["axis"]], "d_model", "n_heads", "batch_size"):
                widget(name, disabled=disabled)
        widget("part_of")
        # A link may name a device that is not here, which is said when it is used.
        if has_accelerator or values["device"] != "cpu":
            widget("device", disabled=disabled)
        if rare := SETTINGS.drawn("rounds", "patience"):
            for name in rare:
                widget(name, disabled=disabled)
            st.caption(MEASURED)


MEASURED = """
Each point is a short job on a worker that does nothing else meanwhile. First all models go along the axis, each until
its next point would take too long or not fit twice into the free memory; then all points again, in shuffled order.
"""


def widget(name: str, *, disabled: bool = False) -> None:
    SETTINGS.widget(name, side_by_side=True, disabled=disabled)
