"""The plan of a sweep: kinds of models, axis, sizes. One table for widgets, link and command line."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import field_validator
from pydantic_core import PydanticCustomError

from engine.config.run_config import RunConfig, parse
from engine.estimate.matching import matched_width
from engine.experiments.sweeps import KINDS
from engine.settings.errors import validate
from engine.settings.fields import Parameters, setting, settings_in

SHORTEST = 64  # each further length is twice the one before


class Plan(Parameters):
    # fmt: off
    axis: Literal["length", "depth"] = setting(
        "length", label="Increase", help="The size on the horizontal axis.", labels={"length": "Length", "depth": "Depth"},
    )
    longest: int = setting(
        4096, label="Longest sequence", help="Lengths double from 64 up to this one, or to this machine's limit.", ge=128, le=131_072,
    )
    deepest: int = setting(8, label="Deepest model", help="Depths double from 1 up to this one.", ge=2, le=48)
    d_model: int = setting(
        32, label="Width (d_model)", help="Width of the transformer. The other models get as many parameters.", ge=8, le=1024,
    )
    n_heads: int = setting(4, label="Heads", help="Attention heads in each layer.", ge=1, le=64)
    kv_heads: int | None = setting(
        None, label="Key and value heads", help="Heads of keys and values in the cache. Auto: one for each head.",
        ge=1, le=64,
    )
    n_layers: int = setting(1, label="Depth", help="Layers of every model, if the length grows.", ge=1, le=48)
    seq_len: int = setting(512, label="Length", help="Tokens in a sequence, if the depth grows.", ge=16, le=16_384)
    batch_size: int = setting(1, label="Batch size", help="Sequences per step.", ge=1, le=256)
    rounds: int = setting(
        3, label="Rounds", help="Measurements of each point, in random order. Dot: median. Bar: range.", ge=1, le=15,
    )
    patience: float = setting(
        0.5, label="Longest step (s)", help="Skips a point if its training step would take longer.", ge=0.01, le=60.0,
    )
    device: Literal["cpu", "accelerator"] = setting(
        "cpu", label="Device", help="Device of the measurement.", labels={"cpu": "CPU, one core", "accelerator": "Accelerator"},
    )
    # fmt: on
    kinds: tuple[str, ...] = tuple(KINDS)

    @field_validator("kinds")
    @classmethod
    def _known_kinds(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not set(value) <= KINDS.keys():
            raise PydanticCustomError(
                "choice", "one or more of {names}, separated by commas", {"names": ", ".join(KINDS)}
            )
        return tuple(name for name in KINDS if name in value)

    @property
    def ticks(self) -> tuple[int, ...]:
        first, last = (SHORTEST, self.longest) if self.axis == "length" else (1, self.deepest)
        doubled = [first << power for power in range(20) if first << power < last]  # no bound is 2^20 times the first
        return (*doubled, last)

    def length_at(self, tick: int) -> int:
        return tick if self.axis == "length" else self.seq_len

    def depth_at(self, tick: int) -> int:
        return self.n_layers if self.axis == "length" else tick

    def config(self, kind: str, tick: int) -> RunConfig:
        """The config of a kind at a tick, without its length, which is :meth:`length_at`. Raises ConfigError."""
        settings: dict[str, Any] = {**_base(self), **KINDS[kind].settings, "n_layers": self.depth_at(tick)}
        return parse(settings | {"d_model": width_of(self, kind)})


def _base(plan: Plan) -> dict[str, Any]:
    sizes = {name: getattr(plan, name) for name in ("d_model", "n_heads", "kv_heads", "batch_size")}
    # sinusoids have no table that grows with the length
    return {"task": "k_back", "k": 1, "pos_encoding": "sinusoidal", "steps": 1, "device": "cpu", **sizes}


@lru_cache(256)
def width_of(plan: Plan, kind: str) -> int:
    """The width at which a kind has as many parameters as the transformer, matched at the first depth."""
    if KINDS[kind].attends:
        return plan.d_model
    base = {**_base(plan), "n_layers": plan.depth_at(plan.ticks[0])}
    return matched_width(base, **KINDS[kind].settings)


SETTINGS = {row.name: row for row in settings_in(Plan)}


def read_plan(flat: Mapping[str, Any]) -> Plan:
    """The plan of flat values. Raises ConfigError with one sentence for each setting that is not allowed, alone or with others."""
    plan = validate(Plan, flat)
    for kind in plan.kinds:
        plan.config(kind, plan.ticks[0])
    return plan
