"""The finding about a claim: one of four, its words, and how many seeds can decide. :mod:`engine.experiments.statistics` makes it."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

FEWEST_SEEDS = 6
"""The fewest seeds that can decide: with five the lowest p is .0625."""


class Finding(StrEnum):
    """The finding about a claim: one of four, with the same names in JSON, tables and pages."""

    HOLDS = "holds"
    OPPOSITE = "opposite"
    NONE = "none"
    UNDECIDED = "undecided"

    @property
    def sign(self) -> Literal[-1, 0, 1] | None:
        """The sign of the effect on the claimed side; 0 where there is none worth naming, None while it is undecided."""
        signs: dict[Finding, Literal[-1, 0, 1]] = {Finding.HOLDS: 1, Finding.OPPOSITE: -1, Finding.NONE: 0}
        return signs.get(self)

    @property
    def words(self) -> str:
        """The words for readers."""
        return WORDS[self]


WORDS = {
    Finding.HOLDS: "Holds",
    Finding.OPPOSITE: "The opposite holds",
    Finding.NONE: "No effect worth naming",
    Finding.UNDECIDED: "Undecided",
}

RULE = f"""\
A claim *{Finding.HOLDS.words.lower()}* where the 95 % interval (paired t, seed by seed) excludes zero on the claimed side, the exact
sign-flip p is below .05 and the effect is at least the smallest worth naming, which was declared before the run. *{Finding.OPPOSITE.words}*
where all of that is so on the other side. There is *{Finding.NONE.words.lower()}* where the whole interval is nearer to zero than that
size, on both sides. All other claims are *{Finding.UNDECIDED.words.lower()}*, as are all with fewer than {FEWEST_SEEDS} seeds."""
"""How the finding is reached, in Markdown, for the pages and the table of evidence."""


def pooled_finding(pooled: Finding, sets: Iterable[Finding | None]) -> Finding:
    """The finding over several sets of seeds: that of all seeds together, ``pooled``; undecided where two of the sets, each weighed
    alone, are decided and contradict each other."""
    decided = {finding for finding in sets if finding not in (None, Finding.UNDECIDED)}
    return pooled if len(decided) < 2 else Finding.UNDECIDED
