"""The events of a run in memory: each step is a row of numbers, and only the few other events are objects.

A run may train 50,000 steps. As objects they would take a kilobyte each, and every full garbage collection would visit them.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from math import nan
from typing import NamedTuple, TypeVar, cast, overload

import numpy as np

from engine.runs.events import Ended, Event, Failed, Finished, Progress, Snapshot, Started
from engine.runs.folder import RunFolder

# the numbers of every step, in the order of a row
PLAIN = ("step", "loss", "grad_norm", "learning_rate", "tokens_per_second")
# measurements that a step may have, each some numbers by name, in the order of a row after the plain ones
MEASUREMENT_FIELDS = tuple(one.name for one in fields(Progress) if one.name not in PLAIN)
OBJECT_BYTES = 2048
OtherEvent = TypeVar("OtherEvent", bound=Started | Snapshot | Finished | Failed | Ended)
Names = tuple[tuple[str, tuple[str, ...]], ...]  # the measurements of a step, each with the names of its numbers


class RowLayout(NamedTuple):
    groups: dict[str, tuple[str, ...]]
    width: int


class StepTable(NamedTuple):
    layout: RowLayout
    values: np.ndarray  # [step, number]


class EventLog(Sequence[Event]):
    """The events in order; an event's number is its index. Steps are built on each access.

    One thread appends while others read: a number below a length that was read exists, and never changes. With a ``folder``, a
    snapshot stored there is packed to bytes when the next one comes, and read again on access.
    """

    def __init__(self, events: Iterable[Event] = (), folder: RunFolder | None = None) -> None:
        self._folder = folder
        self._values = array("d")
        self._starts = array("q")  # of each step, the index of its row in the values
        self._kinds = array("q")  # of each step, its layout
        self._layouts: list[RowLayout] = []
        self._known: dict[Names, int] = {}
        self._numbers: list[int] = []  # of the events that are not steps
        self._others: list[Event | bytes] = []
        self._snapshot: int | None = None  # the index of the latest among the others
        self._count = 0
        for event in events:
            self.append(event)

    def append(self, event: Event) -> None:
        """Raises TypeError or ValueError if a step holds something else than numbers."""
        if isinstance(event, Progress):
            self._add_step(event)
        else:
            if isinstance(event, Snapshot):
                self._pack_snapshot()
                self._snapshot = len(self._others)
            self._others.append(event)
            self._numbers.append(self._count)
        self._count += 1  # last: readers take nothing beyond the count

    @property
    def nbytes(self) -> int:
        others = sum(len(other) if isinstance(other, bytes) else OBJECT_BYTES for other in self._others)
        return sum(len(one) * one.itemsize for one in (self._values, self._starts, self._kinds)) + others

    def tables(self, after: int = 0, upto: int | None = None) -> list[StepTable]:
        """The steps among the events from number ``after`` to before ``upto``, a table for each layout."""
        upto = len(self) if upto is None else upto
        first, last = (number - bisect_left(self._numbers, number) for number in (after, upto))
        if first == last:
            return []
        begin = self._starts[first]  # slices are copies, so the arrays may grow meanwhile
        end = self._starts[last - 1] + self._layouts[self._kinds[last - 1]].width
        values = np.frombuffer(self._values[begin:end])
        starts, kinds = (np.frombuffer(one[first:last], np.int64) for one in (self._starts, self._kinds))
        starts, tables = starts - begin, []
        for kind in np.unique(kinds).tolist():
            layout = self._layouts[kind]
            tables.append(StepTable(layout, values[starts[kinds == kind][:, None] + np.arange(layout.width)]))
        return tables

    def of(self, kind: type[OtherEvent], after: int = 0, upto: int | None = None) -> Sequence[OtherEvent]:
        """The events of a kind other than Progress, from number ``after`` to before ``upto``; each is read on access."""
        upto = len(self) if upto is None else upto
        first, last = (bisect_left(self._numbers, number) for number in (after, upto))
        kinds = (Snapshot if isinstance(other, bytes) else type(other) for other in self._others[first:last])
        indices = [index for index, event_kind in enumerate(kinds, first) if event_kind is kind]
        return _Selection(indices, cast(Callable[[int], OtherEvent], self._other))

    def last(self, kind: type[OtherEvent]) -> OtherEvent | None:
        return next(reversed(self.of(kind)), None)

    def landmarks(self) -> Iterator[Event]:
        """All events but the steps without validation, with the last step in any case."""
        count = len(self)
        others = self._numbers[: bisect_left(self._numbers, count)]
        kinds = np.frombuffer(self._kinds[: count - len(others)], np.int64)
        validated = [kind for kind, layout in enumerate(self._layouts) if "validation" in layout.groups]
        rows = np.flatnonzero(np.isin(kinds, validated) | (np.arange(len(kinds)) == len(kinds) - 1))
        steps_before = np.asarray(others, dtype=int) - np.arange(len(others))  # each of the others
        steps = rows + np.searchsorted(steps_before, rows, "right")
        return (self[number] for number in sorted([*others, *steps.tolist()]))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Event: ...
    @overload
    def __getitem__(self, number: slice) -> list[Event]: ...
    def __getitem__(self, number: int | slice) -> Event | list[Event]:
        chosen = range(self._count)[number]
        return self._event(chosen) if isinstance(chosen, int) else [self._event(one) for one in chosen]

    def _event(self, number: int) -> Event:
        index = bisect_left(self._numbers, number)
        if index < len(self._numbers) and self._numbers[index] == number:
            return self._other(index)
        row = number - index
        layout, start = self._layouts[self._kinds[row]], self._starts[row]
        numbers = iter(self._values[start : start + layout.width])
        step, *plain = islice(numbers, len(PLAIN))
        groups = {group: dict(zip(names, numbers, strict=False)) for group, names in layout.groups.items()}
        return Progress(int(step), *plain, **groups)  # type: ignore[arg-type]  # the fields in their order

    def _other(self, index: int) -> Event:
        other = self._others[index]
        if isinstance(other, bytes):
            assert self._folder is not None, "only a folder packs"
            return self._folder.unpack(other)
        return other

    def _add_step(self, event: Progress) -> None:
        given = [(group, numbers) for group in MEASUREMENT_FIELDS if (numbers := getattr(event, group)) is not None]
        names = tuple((group, tuple(numbers)) for group, numbers in given)
        measured = [number for _, numbers in given for number in numbers.values()]
        row = (*(getattr(event, name) for name in PLAIN), *measured)
        # A file has null for what is not finite. The row is made first, so that a wrong one leaves nothing behind.
        numbers = array("d", [nan if number is None else number for number in row] if None in row else row)
        kind = self._known.setdefault(names, len(self._layouts))
        if kind == len(self._layouts):
            self._layouts.append(RowLayout(dict(names), len(numbers)))
        self._starts.append(len(self._values))
        self._values.extend(numbers)
        self._kinds.append(kind)

    def _pack_snapshot(self) -> None:
        if self._snapshot is not None and self._folder is not None:
            before = self._others[self._snapshot]
            if isinstance(before, Snapshot) and (packed := self._folder.pack(before)) is not None:
                self._others[self._snapshot] = packed


class _Selection(Sequence[OtherEvent]):
    def __init__(self, indices: Sequence[int], read: Callable[[int], OtherEvent]) -> None:
        self._indices, self._read = indices, read

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> OtherEvent: ...
    @overload
    def __getitem__(self, index: slice) -> list[OtherEvent]: ...
    def __getitem__(self, index: int | slice) -> OtherEvent | list[OtherEvent]:
        if isinstance(index, slice):
            return [self._read(one) for one in self._indices[index]]
        return self._read(self._indices[index])
