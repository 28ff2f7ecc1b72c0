"""Sweeps as data frames. This module imports pandas, which workers should not load: import it only where a frame is needed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pandas as pd

from engine.estimate.by_length import memory_at
from engine.settings.costs import Memory
from engine.sweeps.plan import Plan
from engine.sweeps.result import Result
from engine.sweeps.visit import Visit

COUNTED = [field.name for field in fields(Memory)]
BYTES = ["cache_bytes", *COUNTED, "inference_peak", "predicted_saved"]
COLUMNS = [
    "kind", "length", "depth", "batch_size", "width", "parameters", "round", "train_s", "inference_s", "cached_s", *BYTES,
]  # fmt: skip


def visits_frame(result: Result) -> pd.DataFrame:
    """A row for each visit. Times in seconds, memory in bytes; empty cells where a quantity was not measured."""
    rows = [_cells(result.plan, visit) for visit in result.visits]
    return pd.DataFrame(rows, columns=COLUMNS).astype(
        dict.fromkeys(BYTES, "Int64")
    )  # whole numbers that may be missing


def _cells(plan: Plan, visit: Visit) -> list[Any]:
    config, length = plan.config(visit.kind, visit.place), plan.length_at(visit.place)
    counted = [getattr(visit.memory, name) if visit.memory else None for name in COUNTED]
    return [
        visit.kind, length, config.n_layers, config.batch_size, visit.width, visit.parameters, visit.round, visit.train,
        visit.inference, visit.cached, visit.cache_bytes, *counted, visit.inference_peak, memory_at(config, length).saved,
    ]  # fmt: skip
