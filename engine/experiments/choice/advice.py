"""The advice for needs: which encodings the evidence tells from others, as a sentence with its condition, or that there is no answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.encodings import ENCODINGS
from engine.experiments.choice.table import CellState, Column


@dataclass(frozen=True)
class Advice:
    """The answer in a sentence or two, and the encodings by the evidence on all needs together; none where there is no answer."""

    words: str
    good: tuple[str, ...] = ()
    """The encodings that in every need are the best, or differ from the best by less than is worth naming."""
    open: tuple[str, ...] = ()
    """The encodings about which the seeds do not decide."""
    worse: tuple[str, ...] = ()
    """The encodings that are worse in some need, or cannot be run there."""
    unknown: tuple[str, ...] = ()
    """The encodings that were not measured, or have not learned the task of some need."""

    @property
    def order(self) -> tuple[str, ...]:
        """All encodings, those first that meet the needs."""
        return (*self.good, *self.open, *self.worse, *self.unknown)


def advice(columns: Sequence[Column]) -> Advice:
    """The answer to needs, each given as its column. Where there is none, its words say so."""
    if not columns:
        return Advice("")
    if nothing := _no_answer(columns):
        return Advice(nothing)
    groups: dict[str, list[str]] = {"good": [], "open": [], "worse": [], "unknown": []}
    first = columns[0]
    for name in sorted(first.cells, key=lambda name: -first.goodness(name)):
        groups[_group({one.cells[name]["state"] for one in columns})].append(name)
    good, unsure = groups["good"], groups["open"]
    words = _in_words(columns, good, unsure)
    return Advice(words, *(tuple(groups[name]) for name in ("good", "open", "worse", "unknown")))


def _group(states: set[CellState]) -> str:
    if states & {"worse", "no row"}:
        return "worse"
    if states & {"not measured", "not learned"}:
        return "unknown"
    return "open" if "undecided" in states else "good"


def _no_answer(columns: Sequence[Column]) -> str:
    """The sentence why there is no answer; empty where there may be one."""
    for one in columns:
        if one.best is None:
            return f"There is no answer: nothing was measured for “{one.quality.need}”."
        if not one.solved:
            goal = (
                "is better than guessing"
                if one.quality.lower_is_better
                else "gets half of the way from guessing to perfect"
            )
            reached = f"The best one, {label(one.best)}, reaches {one.cells[one.best]['number']:.2f}."
            return f"There is no answer: {condition_of(one)}, no encoding {goal}. {reached}"
    return ""


def _in_words(columns: Sequence[Column], good: Sequence[str], unsure: Sequence[str]) -> str:
    where = "; ".join(condition_of(one) for one in columns)
    bests = "; ".join(f"{label(one.best)} {condition_of(one)}" for one in columns)
    rest = f" The seeds do not decide about {listed(unsure)}." if unsure else ""
    if not good:
        return f"No encoding is {'surely ' if unsure else ''}among the best in all of this. The best are {bests}.{rest}"
    seeds = min(one.cells[name]["seeds"] for one in columns for name in good)
    smallest = ", ".join(sorted({f"{one.quality.smallest:g}" for one in columns}))
    if len(good) > 1:
        return f"{listed(good)}: {where}, they differ from the best by less than {smallest} ({seeds} seeds).{rest}"
    if len(columns) > 1:
        decided = ", as far as the seeds decide" if unsure else ""
        best = f"it is the best, or differs from the best by less than {smallest} ({seeds} seeds)"
        return f"{label(good[0])}: {where}, {best}; no other one does in all of this{decided}.{rest}"
    others = "has the best mean" if unsure else "is better than every other one that was measured"
    return f"{label(good[0])}: it {others}, {where} ({seeds} seeds).{rest}"


def condition_of(one: Column) -> str:
    """The condition under which a column holds, such as "in text at 4 times the trained length"."""
    length = f" at {one.times} times the trained length" if one.times > 1 else ""
    task = one.quality.task.partition(":")[0]
    return f"in “{task}”{length}"


def label(encoding: str | None) -> str:
    return ENCODINGS[encoding].label if encoding else ""


def listed(names: Sequence[str]) -> str:
    labels = [label(name) for name in names]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"
