"""Figures of scenarios: percentiles, medians over rounds, and the Markdown tables for ``docs/load.md``."""

import math
import statistics
from collections.abc import Mapping, Sequence

Figures = dict[str, float]
"""Values by name; the unit stands in the name. NaN where there is none."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed (nearest rank); NaN where there are none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else math.nan


def medians(rounds: Sequence[Figures]) -> Figures:
    """The median of each figure over the rounds that have it."""
    names = dict.fromkeys(name for figures in rounds for name in figures)
    found = {name: [r[name] for r in rounds if name in r and not math.isnan(r[name])] for name in names}
    return {name: statistics.median(values) if values else math.nan for name, values in found.items()}


def table(columns: Mapping[str, Figures]) -> str:
    """A Markdown table with a row for each figure and a column for each case."""
    names = dict.fromkeys(name for figures in columns.values() for name in figures)
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'--:|' * len(columns)}"]
    lines += [f"| {name} | {' | '.join(_written(f.get(name, math.nan)) for f in columns.values())} |" for name in names]
    return "\n".join(lines)


def _written(value: float) -> str:
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "no answer"
    return f"{value:.0f}" if value == round(value) or abs(value) >= 100 else f"{value:.3g}"
