"""The advice for needs: which encodings the evidence tells from others, as a sentence with its condition and its models; where none is good
in all needs, the one with the least regret and its price; or that there is no answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.encodings import ENCODINGS
from engine.experiments.choice.qualities import scope_of
from engine.experiments.choice.table import CellState, Column
from engine.foundation.formatting import listed

HANDFUL = 4
"""The number of names up to which a sentence lists them; more are counted."""


@dataclass(frozen=True)
class Advice:
    """The answer in a few sentences, and the encodings by the evidence on all needs together; none where there is no answer."""

    words: str
    good: tuple[str, ...] = ()
    """The encodings that in every need are the best, or differ from the best by less than counts."""
    open: tuple[str, ...] = ()
    """The encodings about which the seeds do not decide."""
    alike: tuple[str, ...] = ()
    """The encodings that these runs cannot tell from the best, however many seeds there are."""
    worse: tuple[str, ...] = ()
    """The encodings that are worse in some need, or cannot be run there."""
    unknown: tuple[str, ...] = ()
    """The encodings that were not measured, or have not learned the task of some need."""
    least_regret: str | None = None
    """Where none is good: the encoding whose largest distance from the best of a need is smallest."""

    @property
    def order(self) -> tuple[str, ...]:
        """All encodings, those first that meet the needs."""
        first = (self.least_regret,) if self.least_regret else ()
        return tuple(dict.fromkeys((*self.good, *first, *self.alike, *self.open, *self.worse, *self.unknown)))


def advice(columns: Sequence[Column]) -> Advice:
    """The answer to needs, each given as its column. Where there is none, its words say so."""
    if not columns:
        return Advice("")
    if nothing := _no_answer(columns):
        return Advice(nothing)
    groups: dict[str, list[str]] = {"good": [], "open": [], "alike": [], "worse": [], "unknown": []}
    first = columns[0]
    for name in sorted(first.cells, key=lambda name: -first.goodness(name)):
        groups[_group({one.cells[name]["state"] for one in columns})].append(name)
    found = {group: tuple(names) for group, names in groups.items()}
    regret = None if groups["good"] or len(columns) == 1 else least_regret(columns)
    return Advice(_in_words(columns, found, regret), **found, least_regret=regret)


def _group(states: set[CellState]) -> str:
    if states & {"worse", "no row"}:
        return "worse"
    if states & {"not measured", "not learned"}:
        return "unknown"
    return "open" if "undecided" in states else "alike" if "cannot tell" in states else "good"


def _no_answer(columns: Sequence[Column]) -> str:
    """The sentence why there is no answer; empty where there may be one."""
    for one in columns:
        if one.best is None:
            return f"There is no answer: nothing was measured for “{one.quality.need}”."
        if not one.solved:
            half = "gets half of the way from guessing to perfect"
            goal = "is better than guessing" if one.quality.lower_is_better else half
            reached = f"The best one, {label(one.best)}, reaches {one.cells[one.best]['number']:.2f}."
            return f"There is no answer: {condition_of(one)}, no encoding {goal}. {reached}"
    return ""


# The least regret


def regrets(columns: Sequence[Column], encoding: str) -> list[float] | None:
    """How far an encoding is behind the best of each column, in units of that column's smallest difference that counts, which makes
    accuracies and losses comparable; None where it has no number to compare in one of them."""
    behind = [one.cells[encoding]["behind"] for one in columns]
    known = [max(0.0, distance) for distance in behind if distance is not None]
    if len(known) < len(behind):
        return None
    return [distance / one.quality.smallest for one, distance in zip(columns, known, strict=True)]


def least_regret(columns: Sequence[Column]) -> str | None:
    """The encoding whose largest regret is smallest; None where none was measured in all columns."""
    worst = {name: max(found) for name in columns[0].cells if (found := regrets(columns, name)) is not None}
    return min(worst, key=lambda name: worst[name], default=None)


def _regret_in_words(columns: Sequence[Column], name: str) -> str:
    found = regrets(columns, name) or []
    prices = [
        f"{one.cells[name]['behind']:.2f} {unit_of(one)} behind {label(one.best)} {place_of(one)}"
        for one, regret in zip(columns, found, strict=True)
        if regret >= 1
    ]
    price = f"its price is {'; '.join(prices)}" if prices else "nowhere is it behind the best by as much as counts"
    others = "Every other one is farther behind in some need, measured by the smallest difference that counts there."
    return f" The least regret: {label(name)}; {price}. {others}"


# In words


def _in_words(columns: Sequence[Column], found: dict[str, tuple[str, ...]], regret: str | None) -> str:
    good, unsure, alike = found["good"], found["open"], found["alike"]
    where = "; ".join(condition_of(one) for one in columns)
    rest = f" The seeds do not decide about {_few_or_counted(unsure)}." if unsure else ""
    rest += f" These runs cannot tell {_few_or_counted(alike)} from the best." if alike else ""
    if not good:
        bests = "; ".join(f"{label(one.best)} {condition_of(one)}" for one in columns)
        compromise = _regret_in_words(columns, regret) if regret else ""
        surely = "surely " if unsure or alike else ""
        return f"No encoding is {surely}among the best in all of this. The best are {bests}.{compromise}{rest}"
    seeds = min(one.cells[name]["seeds"] for one in columns for name in good)
    smallest = ", ".join(dict.fromkeys(f"{one.quality.smallest:g} {unit_of(one)}" for one in columns))
    if len(columns) > 1:
        each = "it is" if len(good) == 1 else "each is"
        many = f"{len(good)} of {len(columns[0].cells)} encodings, the first of the table"
        names = labels(good) if len(good) <= HANDFUL else many
        first = f"{names}: {where}, {each} the best or behind it by less than {smallest}"
        none_else = "" if unsure or alike else "; no other one is"
        return f"{first}, over {seeds} seeds{none_else}.{rest}"
    (one,) = columns
    others = [name for name in good if name != one.best]
    if not others:
        alone = "has the best mean" if unsure or alike else "is better than every other one that was measured"
        return f"{label(one.best)}: it {alone}, {where}, over {seeds} seeds.{rest}"
    if len(others) > HANDFUL:
        told = f"{len(good)} of {len(one.cells)} cannot be told apart: they differ from the best, {label(one.best)},"
        return f"{told} by less than {smallest}, {where}, over {seeds} seeds.{rest}"
    differ = "differs" if len(others) == 1 else "differ"
    mean = f"{label(one.best)} has the best mean; {labels(others)} {differ} from it by less than {smallest}"
    return f"{mean}, {where}, over {seeds} seeds.{rest}"


def place_of(one: Column) -> str:
    """The task and the tested length of a column, such as "in “text” at 4 times the trained length"."""
    length = f" at {one.times} times the trained length" if one.times > 1 else ""
    task = one.quality.task.partition(":")[0]
    return f"in “{task}”{length}"


def condition_of(one: Column) -> str:
    """The same with the models for which the column holds."""
    return f"{place_of(one)} ({scope_of(one.quality)})"


def unit_of(one: Column) -> str:
    return "nats" if one.quality.lower_is_better else "accuracy"


def label(encoding: str | None) -> str:
    return ENCODINGS[encoding].label if encoding else ""


def labels(names: Iterable[str]) -> str:
    return listed(list(map(label, names)))


def _few_or_counted(names: Sequence[str]) -> str:
    """The labels of encodings; of more than a handful their number."""
    return labels(names) if len(names) <= HANDFUL else f"{len(names)} encodings"
