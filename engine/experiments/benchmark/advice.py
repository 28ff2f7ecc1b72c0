from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from engine.encodings import ENCODINGS
from engine.experiments.benchmark.costs import CostRow
from engine.experiments.benchmark.criteria import COSTS, CRITERIA, NEEDS, model_of, needed_by
from engine.experiments.benchmark.table import Column
from engine.foundation.formatting import listed

LONGER = 4  # the multiple of the trained length for which the advice speaks if only shorter ones were asked about
MAX_NAMED = 2
LAYERS = listed(sorted({f"{model_of(one).n_layers}" for one in CRITERIA.values()}), "or")
WIDTH = listed(sorted({f"{model_of(one).d_model}" for one in CRITERIA.values()}), "or")
# the models for which the advice holds
SCOPE = f"Measured at {LAYERS} layers, width {WIDTH}: large models may differ."


@dataclass(frozen=True)
class Advice:
    words: str
    """A few lines of Markdown."""
    order: tuple[str, ...]
    """All encodings, the most useful first."""
    start: str = ""
    """Empty if nothing was measured."""
    needs_met: tuple[str, ...] = ()
    """The needs in which ``start`` is among the best."""
    unless: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other needs in words, each with its encodings."""


def advice(
    needs: Collection[str], columns: Mapping[str, Column], longer: Mapping[str, Column], costs: Mapping[str, CostRow]
) -> Advice:
    """The advice for some needs; if none of these is a measured one, for all measured needs. Needs about costs rule out encodings.

    ``columns``: by criterion, at the requested length; ``longer``: the same at ``LONGER`` times the trained length.
    """
    allowed = {name for name in costs if all(meets(need, costs, name) for need in COSTS if need in needs)}
    measured = [need for need in NEEDS if need not in COSTS]
    everywhere = {need: _in_all([columns[one.slug] for one in needed_by(need)]) & allowed for need in measured}
    chosen = [need for need in measured if need in needs] or measured
    best = {need: everywhere[need] for need in chosen if everywhere[need]}

    def n_met(name: str, among: Mapping[str, frozenset[str]]) -> int:
        return sum(name in encodings for encodings in among.values())

    def rank(name: str) -> tuple[bool, int, int, float]:
        timing = costs[name].timing
        time = round(timing["ratio"], 1) if timing else inf  # what is closer is noise of the measurement
        return name not in allowed, -n_met(name, best), -n_met(name, everywhere), time

    order = sorted(costs, key=rank)
    if not best:
        return Advice("No encoding here meets these needs.", tuple(order))
    start = order[0]
    others = {NEEDS[need]: encodings for need, encodings in best.items() if start not in encodings}
    slugs = [one.slug for need in best for one in needed_by(need)]
    far = [longer[slug] for slug in slugs if longer[slug].times == LONGER > columns[slug].times]
    others[f"test at {LONGER} times the length"] = _in_all(far) & allowed
    free = {name: n_met(name, best) for name in costs if meets("parameters", costs, name)}
    others[NEEDS["parameters"]] = frozenset(name for name in free if 0 < free[name] == max(free.values()))
    unless = {
        need: tuple(name for name in order if name in encodings)[:MAX_NAMED]
        for need, encodings in others.items()
        if encodings and start not in encodings
    }
    good = tuple(need for need, encodings in best.items() if start in encodings)
    named = [NEEDS[need] for need in good if need in needs]
    words = _in_words(start, named, f"{len(good)} of {len(best)}", unless, costs[start])
    return Advice(words, tuple(order), start, good, unless)


def meets(cost: str, costs: Mapping[str, CostRow], name: str) -> bool:
    """True if the encoding adds no parameters, or no more time than the fastest, within the middle half of its
    measurements."""
    if cost == "parameters":
        return costs[name].parameters == 0
    timing = costs[name].timing
    return timing is not None and timing["low"] <= min(one.timing["high"] for one in costs.values() if one.timing)


def _in_all(columns: Collection[Column]) -> frozenset[str]:
    if not columns or not all(one.solved for one in columns):
        return frozenset()
    return frozenset.intersection(*(one.among_best for one in columns))


def _in_words(
    start: str, named: Sequence[str], share: str, unless: Mapping[str, tuple[str, ...]], cost: CostRow
) -> str:
    """``named``: the met needs among the chosen ones; ``share``: their number among all, if none was chosen."""
    price = f"adds {f'{cost.parameters:,}' if cost.parameters else 'no'} parameters"
    if cost.timing:
        price += f" and takes {cost.timing['ratio']:.2f} times as long as no encoding"
    good = f"if you must {listed(named, 'or')}" if named else f"for {share} needs"
    together: dict[str, list[str]] = {}  # needs for which the same encodings are named
    for need, names in unless.items():
        together.setdefault(listed([*map(label, names)], "or"), []).append(need)
    others = [f"**To {listed(needs, 'or')}**, use {names}." for names, needs in together.items()]
    first = f"**Start with {label(start)}**. It is among the best {good}. It {price}."
    return "  \n".join([first, *others, SCOPE])


def label(encoding: str) -> str:
    return ENCODINGS[encoding].label
