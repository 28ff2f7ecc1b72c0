"""Progress events as columns, one for each line of a figure, thinned without losing an extreme."""

from collections.abc import Iterator

import numpy as np

from engine.runs.log import PLAIN, EventLog, StepTable

POINTS = 500

Column = tuple[list[int], list[float]]  # the steps, and the value at each
Columns = dict[str, Column]


def columns_of(events: EventLog, after: int = 0, upto: int | None = None) -> Columns:
    """Return the lines by name of the events ``after`` to before ``upto``, thinned and with five digits: enough for a
    figure."""
    columns = {}
    for name, (steps, values) in _lines(events, after, upto).items():
        indices = extreme_indices(steps, values)
        columns[name] = (steps[indices].tolist(), [float(f"{value:.5g}") for value in values[indices].tolist()])
    return columns


def exact_column(events: EventLog, name: str) -> Column | None:
    """Return the line of that name with every step and every digit, without values that are not finite, or None.

    ``loss``, ``grad_norm``, ``learning_rate``, ``tokens_per_second``, ``metrics.<name>``, ``validation.<name>``,
    ``grad_norms.<part>`` and, per layer, ``grad_norms.<layer>.total``.
    """
    line = _lines(events, only=name).get(name)
    return None if line is None else (line[0].tolist(), line[1].tolist())


def _lines(
    events: EventLog, after: int = 0, upto: int | None = None, only: str | None = None
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the steps and the finite values of each line, or of one ``only``, in order of steps; no empty lines."""
    stretches: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for table in events.tables(after, upto):
        for name, values in _lines_of(table):
            if only not in (None, name):
                continue
            finite = np.isfinite(values)
            if finite.any():
                stretches.setdefault(name, []).append((table.values[finite, 0].astype(int), values[finite]))
    lines = {}
    for name, pieces in stretches.items():
        steps, values = (np.concatenate(part) for part in zip(*pieces, strict=True))
        order = np.argsort(steps, kind="stable") if len(pieces) > 1 else slice(None)
        lines[name] = (steps[order], values[order])
    return lines


def _lines_of(table: StepTable) -> Iterator[tuple[str, np.ndarray]]:
    numbers = iter(table.values.T)
    for name, values in zip(PLAIN, numbers, strict=False):
        if name != "step":
            yield name, values
    for group, names in table.layout.groups.items():
        squares: dict[str, np.ndarray] = {}
        for name, values in zip(names, numbers, strict=False):
            yield f"{group}.{name}", values
            if group == "grad_norms" and "." in name:
                layer = name.split(".")[0]
                squares[layer] = squares.get(layer, 0.0) + np.nan_to_num(values) ** 2
        yield from ((f"grad_norms.{layer}.total", np.sqrt(square)) for layer, square in squares.items())


def extreme_indices(x: np.ndarray, y: np.ndarray, points: int = POINTS) -> np.ndarray:
    """Return the indices of at most ``points`` points of a line: the lowest and the highest in each stretch of steps,
    and both ends.

    Stretches are whole multiples of a power of two, so they nest: a line that is thinned repeatedly as it grows looks
    the same as one that is thinned once.
    """
    if len(x) <= points:
        return np.arange(len(x))
    width = 1
    while x[-1] // width - x[0] // width + 1 > (points - 2) // 2:
        width *= 2
    begins = np.diff(x // width, prepend=x[0] // width - 1) != 0
    starts, stretch = np.flatnonzero(begins), np.cumsum(begins) - 1
    ends = [0, len(x) - 1]
    extremes = [_first(y == extreme.reduceat(y, starts)[stretch], stretch) for extreme in (np.minimum, np.maximum)]
    return np.unique(np.concatenate([ends, *extremes]))


def _first(hits: np.ndarray, stretch: np.ndarray) -> np.ndarray:
    indices = np.flatnonzero(hits)
    return np.asarray(indices[np.unique(stretch[indices], return_index=True)[1]])
