"""The store of sweeps on this machine: one JSON file each, under an unguessable name; and the one that comes with the app."""

import csv
import io
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from engine.estimate.by_length import memory_at
from engine.experiments.sweeps.plan import read_plan
from engine.experiments.sweeps.result import Result
from engine.foundation.files import data_folder, write_for_visitor
from engine.foundation.once import once
from engine.foundation.stored_json import read_json
from engine.foundation.visitor import PROGRAM, Visitor
from engine.settings.costs import Memory

FORMAT = 1
MAX_SWEEPS, MAX_SWEEPS_OF_VISITOR = 200, 20  # the newest sweeps are stored: of everybody, and of one visitor
RESULT = TypeAdapter(Result)
TIME_COLUMNS = {"train": "train_s", "inference": "inference_s", "cached": "cached_s"}
# the measured columns of the table of visits
BYTE_COLUMNS = ("cache_bytes", *(field.name for field in fields(Memory)), "inference_peak")
NAME = re.compile(r"[A-Za-z0-9_-]{8,40}")


def folder() -> Path:
    return data_folder() / "costs"


def keep(name: str, result: Result, visitor: Visitor = PROGRAM) -> Path:
    """Raises OSError if the disk does not take it."""
    file = folder() / f"{name}.json"
    write_for_visitor(file, json.dumps(to_json(result), allow_nan=False), visitor, MAX_SWEEPS_OF_VISITOR, MAX_SWEEPS)
    return file


def find(name: str) -> Result | None:
    if not NAME.fullmatch(name):
        return None
    try:
        return from_json(read_json(folder() / f"{name}.json"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@once
def shipped() -> Result:
    """The sweep of the default plan, made by ``python -m tools.costs sweep``."""
    return from_json(json.loads((Path(__file__).parent / "shipped.json").read_text("utf-8")))


def to_json(result: Result) -> dict[str, Any]:
    return {"format": FORMAT, **RESULT.dump_python(result, by_alias=True)}


def from_json(row: dict[str, Any]) -> Result:
    """Raises KeyError or ValueError if the row holds no result."""
    if row["format"] != FORMAT:
        raise ValueError(f"format is {row['format']}; it must be {FORMAT}.")
    return RESULT.validate_python({**row, "plan": read_plan(row["plan"])})


def to_csv(result: Result) -> str:
    """A row for each visit. Times in seconds, memory in bytes; empty cells for what was not measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        (
            "kind",
            "length",
            "depth",
            "batch_size",
            "width",
            "round",
            *TIME_COLUMNS.values(),
            *BYTE_COLUMNS,
            "predicted_saved",
        )
    )
    for visit in result.visits:
        config, length = result.plan.config(visit.kind, visit.tick), result.plan.length_at(visit.tick)
        measured = vars(visit) | (vars(visit.memory) if visit.memory else {})
        writer.writerow((
            visit.kind, length, config.n_layers, config.batch_size, config.d_model, visit.round,
            *(measured.get(name) for name in (*TIME_COLUMNS, *BYTE_COLUMNS)), memory_at(config, length).saved,
        ))  # fmt: skip
    return text.getvalue()
