"""The evidence that came with this version: what ``docs/evidence`` says of every arm, one value a seed. Torch-free."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import engine

FOLDER = Path(engine.__file__).parents[1] / "docs" / "evidence"

ByArm = dict[tuple[str, str], list[tuple[int, float]]]
"""(arm, metric) to (seed, value); a seed without a number is left out."""


@cache
def shipped_numbers(slug: str, folder: Path = FOLDER) -> tuple[ByArm, dict[str, int]]:
    """Every number of an issue's arms over all sets of seeds, and the seeds that each arm was run on."""
    numbers: ByArm = {}
    seeds: dict[str, int] = {}
    for measured in _sets(folder):
        for report in measured["reports"]:
            if report["slug"] == slug:
                for arm in report["arms"]:
                    seeds[arm["name"]] = seeds.get(arm["name"], 0) + len(report["seeds"])
                    for metric, values in _metrics(arm):
                        known = [(s, v) for s, v in zip(report["seeds"], values, strict=True) if v is not None]
                        numbers.setdefault((arm["name"], metric), []).extend(known)
    return numbers, seeds


def _metrics(arm: dict[str, Any]) -> list[tuple[str, list[float | None]]]:
    by_metric = {point["metric"]: point["values"] for point in arm["points"]} | {arm["metric"]: arm["values"]}
    return list(by_metric.items())


@cache
def _sets(folder: Path) -> list[dict[str, Any]]:
    """Empty where the documents were left out of an installation."""
    return [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("seeds-*.json"))]
