"""Sweeps as data frames. This module imports pandas, which workers should not load: import it only where a frame is needed."""

from dataclasses import asdict, fields
from typing import Any

import pandas as pd

from engine.estimate.by_length import memory_at
from engine.settings.costs import Memory
from engine.sweeps.fit import Fit
from engine.sweeps.jobs import Visit
from engine.sweeps.plan import Plan
from engine.sweeps.result import Result

COUNTED = [field.name for field in fields(Memory)]
BYTES = ["cache_bytes", *COUNTED, "inference_peak", "predicted_saved"]
COLUMNS = [
    "kind", "length", "depth", "batch_size", "width", "parameters", "round", "train_s", "inference_s", "cached_s", *BYTES,
]  # fmt: skip

FIT_COLUMNS = ["kind", "quantity", *(field.name for field in fields(Fit)), "says"]


def visits_frame(result: Result) -> pd.DataFrame:
    """A row for each visit. Times in seconds, memory in bytes; empty cells where a quantity was not measured."""
    rows = [_cells(result.plan, visit) for visit in result.visits]
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(BYTES, "Int64"))  # that may be missing


def _cells(plan: Plan, visit: Visit) -> list[Any]:
    config, length = plan.config(visit.kind, visit.place), plan.length_at(visit.place)
    counted = [getattr(visit.memory, name) if visit.memory else None for name in COUNTED]
    return [
        visit.kind, length, config.n_layers, config.batch_size, visit.width, visit.parameters, visit.round, visit.train,
        visit.inference, visit.cached, visit.cache_bytes, *counted, visit.inference_peak, memory_at(config, length).saved,
    ]  # fmt: skip


def fits_frame(result: Result) -> pd.DataFrame:
    """A row for each power law: its kind and quantity, the exponent with its interval, and the laws that this allows."""
    rows = [(*name.split(".", 1), *asdict(fit).values(), fit.says) for name, fit in result.fits.items()]
    return pd.DataFrame(rows, columns=FIT_COLUMNS)
