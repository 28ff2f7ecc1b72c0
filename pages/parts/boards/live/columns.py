"""Progress events as columns, one for each line of a figure, thinned without losing an extreme."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from engine.runs.events import Event, Progress

POINTS = 500
"""The most points of a line."""

Column = tuple[list[int], list[float]]
"""The steps, and the value at each."""
Columns = dict[str, Column]


def columns_of(events: Iterable[Event], points: int = POINTS) -> Columns:
    """The lines of a stretch of events by name, thinned and with five digits: enough for a figure."""
    return {
        name: thin(steps, [float(f"{value:.5g}") for value in values], points=points)
        for name, (steps, values) in exact_columns(events).items()
    }


def exact_columns(events: Iterable[Event]) -> Columns:
    """The lines with every step and every digit; values that are not finite are left out.

    ``loss``, ``grad_norm``, ``learning_rate``, ``tokens_per_second``, ``metrics.<name>``, ``validation.<name>``,
    ``grad_norms.<part>`` and, per layer, ``grad_norms.<layer>.total``.
    """
    columns: Columns = {}
    for event in events:
        if isinstance(event, Progress):
            for name, value in _values_of(event):
                if value is not None and math.isfinite(value):
                    steps, values = columns.setdefault(name, ([], []))
                    steps.append(event.step)
                    values.append(value)
    return columns


def _values_of(event: Progress) -> Iterator[tuple[str, float | None]]:
    yield "loss", event.loss
    yield "grad_norm", event.grad_norm
    yield "learning_rate", event.learning_rate
    yield "tokens_per_second", event.tokens_per_second
    yield from ((f"metrics.{name}", value) for name, value in event.metrics.items())
    yield from ((f"validation.{name}", value) for name, value in (event.validation or {}).items())
    squares: dict[str, float] = {}
    for part, norm in (event.grad_norms or {}).items():
        yield f"grad_norms.{part}", norm
        if norm is not None and "." in part:
            layer = part.split(".")[0]
            squares[layer] = squares.get(layer, 0.0) + norm * norm
    yield from ((f"grad_norms.{layer}.total", math.sqrt(square)) for layer, square in squares.items())


def thin(steps: Sequence[int], values: Sequence[float], points: int = POINTS) -> Column:
    """A line with at most ``points`` points: the lowest and the highest in each stretch of steps, and both ends.

    Stretches are whole multiples of a power of two, so they nest: a line that is thinned repeatedly as it grows looks
    the same as one that is thinned once.
    """
    if len(steps) <= points:
        return list(steps), list(values)
    x, y = np.asarray(steps), np.asarray(values)
    width = 1
    while x[-1] // width - x[0] // width + 1 > (points - 2) // 2:
        width *= 2
    starts = np.flatnonzero(np.diff(x // width, prepend=x[0] // width - 1)).tolist()
    kept = {0, len(x) - 1}
    for low, high in zip(starts, [*starts[1:], len(x)], strict=True):
        kept |= {low + int(y[low:high].argmin()), low + int(y[low:high].argmax())}
    order = sorted(kept)
    return x[order].tolist(), y[order].tolist()
