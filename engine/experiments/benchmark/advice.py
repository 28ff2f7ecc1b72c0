"""The advice for needs: which encodings the evidence tells from others, as a sentence with its condition and its models; where none is good
in all needs, the one with the least regret and its price; or that there is no answer."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.encodings import ENCODINGS
from engine.experiments.benchmark.criteria import scope_of
from engine.experiments.benchmark.table import CellState, Column
from engine.foundation.formatting import listed

HANDFUL = 4
"""The number of names up to which a sentence lists them; more are counted."""
SENTENCES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


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
    sentences = SENTENCES["no_answer"]
    for one in columns:
        if one.best is None:
            return sentences["not_measured"].format(need=one.criterion.need)
        if not one.solved:
            sentence = sentences["loss" if one.criterion.lower_is_better else "accuracy"]
            number = one.cells[one.best]["number"]
            return sentence.format(where=condition_of(one), best=label(one.best), number=number)
    return ""


# The least regret


def regrets(columns: Sequence[Column], encoding: str) -> list[float] | None:
    """How far an encoding is behind the best of each column, in units of that column's smallest difference that counts, which makes
    accuracies and losses comparable; None where it has no number to compare in one of them."""
    behind = [one.cells[encoding]["behind"] for one in columns]
    known = [max(0.0, distance) for distance in behind if distance is not None]
    if len(known) < len(behind):
        return None
    return [distance / one.criterion.smallest for one, distance in zip(columns, known, strict=True)]


def least_regret(columns: Sequence[Column]) -> str | None:
    """The encoding whose largest regret is smallest; None where none was measured in all columns."""
    worst = {name: max(found) for name in columns[0].cells if (found := regrets(columns, name)) is not None}
    return min(worst, key=lambda name: worst[name], default=None)


# In words


def _in_words(columns: Sequence[Column], found: dict[str, tuple[str, ...]], regret: str | None) -> str:
    sentences = SENTENCES["one_need" if len(columns) == 1 else "several_needs"]
    good, bests = found["good"], [one.best for one in columns]
    beside = [name for name in good if len(columns) > 1 or name not in bests]
    size = ("none", "one")[len(beside)] if len(beside) < 2 else "few" if len(beside) <= HANDFUL else "many"
    unsure = f"{size}_unsure" if found["open"] or found["alike"] else size
    words = [
        sentences.get(unsure, sentences[size]).format(
            best=label(bests[0]), listed=labels(beside) if beside else "", good=len(good), all=len(columns[0].cells),
            bests="; ".join(f"{label(one.best)} {condition_of(one)}" for one in columns),
            where="; ".join(map(condition_of, columns)),
            smallest=", ".join(dict.fromkeys(f"{one.criterion.smallest:g} {unit_of(one)}" for one in columns)),
            seeds=min((one.cells[name]["seeds"] for one in columns for name in good), default=0),
        )
    ]  # fmt: skip
    if regret:
        words.append(_regret_in_words(columns, regret))
    for group, sentence in SENTENCES["rest"].items():
        if names := found[group]:
            words.append(sentence.format(names=labels(names) if len(names) <= HANDFUL else f"{len(names)} encodings"))
    return " ".join(words)


def _regret_in_words(columns: Sequence[Column], name: str) -> str:
    sentences = SENTENCES["least_regret"]
    prices = [
        sentences["price"].format(
            behind=one.cells[name]["behind"], unit=unit_of(one), best=label(one.best), place=place_of(one)
        )
        for one, regret in zip(columns, regrets(columns, name) or [], strict=True)
        if regret >= 1
    ]
    return sentences["priced" if prices else "free"].format(name=label(name), prices="; ".join(prices))


def place_of(one: Column) -> str:
    """The task and the tested length of a column, such as "in “text” at 4 times the trained length"."""
    length = f" at {one.times} times the trained length" if one.times > 1 else ""
    task = one.criterion.task.partition(":")[0]
    return f"in “{task}”{length}"


def condition_of(one: Column) -> str:
    """The same with the models for which the column holds."""
    return f"{place_of(one)} ({scope_of(one.criterion)})"


def unit_of(one: Column) -> str:
    return "nats" if one.criterion.lower_is_better else "accuracy"


def label(encoding: str | None) -> str:
    return ENCODINGS[encoding].label if encoding else ""


def labels(names: Iterable[str]) -> str:
    return listed(list(map(label, names)))
