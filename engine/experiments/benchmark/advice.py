"""The advice for needs: the encoding to start with, its price, and which needs ask for another one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from engine.encodings import ENCODINGS
from engine.experiments.benchmark.costs import CostRow
from engine.experiments.benchmark.criteria import COSTS, CRITERIA, NEEDS, model_of, needed_by
from engine.experiments.benchmark.table import Column
from engine.foundation.formatting import listed

LONGER = 4
"""The multiple of the trained length about which the advice speaks where only shorter ones were asked about."""
MAX_NAMED = 2
"""The most encodings that the advice names for a need."""
LAYERS = listed(sorted({f"{model_of(one).n_layers}" for one in CRITERIA.values()}), "or")
WIDTH = listed(sorted({f"{model_of(one).d_model}" for one in CRITERIA.values()}), "or")
SCOPE = f"Measured with {LAYERS} layers of width {WIDTH}: large models may differ."
"""The models for which the advice holds."""


@dataclass(frozen=True)
class Advice:
    words: str
    """The answer in a few lines of Markdown."""
    order: tuple[str, ...]
    """All encodings, the most useful first."""
    start: str = ""
    """The encoding to start with; empty where nothing was measured."""
    met: tuple[str, ...] = ()
    """The needs in which it is among the best."""
    unless: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other needs in words, each with the encodings to use there."""


def advice(
    needs: Collection[str], columns: Mapping[str, Column], longer: Mapping[str, Column], costs: Mapping[str, CostRow]
) -> Advice:
    """The advice for some needs, or for all that are measured where none of these is named. Needs about costs leave out encodings.
    ``columns``: by criterion, at the length that is asked about; ``longer``: the same at ``LONGER`` times the trained length."""
    allowed = {name for name in costs if all(meets(need, costs, name) for need in COSTS if need in needs)}
    measured = [need for need in NEEDS if need not in COSTS]
    everywhere = {need: _in_all([columns[one.slug] for one in needed_by(need)]) & allowed for need in measured}
    chosen = [need for need in measured if need in needs] or measured
    best = {need: everywhere[need] for need in chosen if everywhere[need]}

    def met(name: str, among: Mapping[str, frozenset[str]]) -> int:
        return sum(name in found for found in among.values())

    def rank(name: str) -> tuple[bool, int, int, float]:
        timing = costs[name].timing
        time = round(timing["ratio"], 1) if timing else inf  # what is closer is noise of the measurement
        return name not in allowed, -met(name, best), -met(name, everywhere), time

    order = sorted(costs, key=rank)
    if not best:
        return Advice("There is no answer: no encoding here meets this.", tuple(order))
    start = order[0]
    others = {NEEDS[need]: found for need, found in best.items() if start not in found}
    slugs = [one.slug for need in best for one in needed_by(need)]
    far = [longer[slug] for slug in slugs if longer[slug].times == LONGER > columns[slug].times]
    others[f"test at {LONGER} times the length"] = _in_all(far) & allowed
    free = {name: met(name, best) for name in costs if meets("parameters", costs, name)}
    others[NEEDS["parameters"]] = frozenset(name for name in free if 0 < free[name] == max(free.values()))
    unless = {
        need: tuple(name for name in order if name in found)[:MAX_NAMED]
        for need, found in others.items()
        if found and start not in found
    }
    good = tuple(need for need, found in best.items() if start in found)
    named = [NEEDS[need] for need in good if need in needs]
    words = _in_words(start, named, f"{len(good)} of {len(best)}", unless, costs[start])
    return Advice(words, tuple(order), start, good, unless)


def meets(cost: str, costs: Mapping[str, CostRow], name: str) -> bool:
    """Whether an encoding adds no parameters, or no more time than the fastest: as far as the middle half of its measurements says."""
    if cost == "parameters":
        return costs[name].parameters == 0
    timing = costs[name].timing
    return timing is not None and timing["low"] <= min(one.timing["high"] for one in costs.values() if one.timing)


def _in_all(columns: Collection[Column]) -> frozenset[str]:
    """The encodings that are among the best in all columns; none where there is no column, or one without an answer."""
    if not columns or not all(one.solved for one in columns):
        return frozenset()
    return frozenset.intersection(*(one.among_best for one in columns))


# In words


def _in_words(
    start: str, named: Sequence[str], share: str, unless: Mapping[str, tuple[str, ...]], cost: CostRow
) -> str:
    """``named``: the needs that were chosen and are met; ``share``: how many of all, where none was chosen."""
    price = f"{f'{cost.parameters:,}' if cost.parameters else 'no'} parameters"
    if cost.timing:
        price += f" and {cost.timing['ratio']:.2f} times the time"
    good = f"if you must {listed(named, 'or')}" if named else f"for {share} needs"
    together: dict[str, list[str]] = {}  # needs for which the same encodings are named
    for need, names in unless.items():
        together.setdefault(listed([*map(label, names)], "or"), []).append(need)
    others = [f"**Unless** you must {listed(needs, 'or')}: {names}." for names, needs in together.items()]
    return "  \n".join([f"**Start with {label(start)}**: among the best {good}. It costs {price}.", *others, SCOPE])


def label(encoding: str) -> str:
    return ENCODINGS[encoding].label
