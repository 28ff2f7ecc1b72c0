"""The finding about a claim, one of four: it holds, the opposite holds, no effect worth naming, undecided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

Finding = Literal["holds", "opposite", "none", "undecided"]
FINDINGS: Mapping[Finding, str] = {
    "holds": "Holds",
    "opposite": "The opposite holds",
    "none": "No effect worth naming",
    "undecided": "Undecided",
}
"""The words for readers."""
FEWEST_SEEDS = 6
"""The fewest seeds that can decide: with five the lowest p is .0625."""


def lowest_p(seeds: int) -> float:
    """The smallest p that a two-sided sign-flip test of ``seeds`` pairs can give."""
    return 2.0 ** (1 - seeds)


LOWEST_P = f"With eight seeds p cannot fall below {lowest_p(8):.4f}, whatever the effect."


def agreed(findings: Sequence[Finding | None]) -> Finding:
    """The common finding of several sets of seeds; undecided where they disagree."""
    known = {finding for finding in findings if finding is not None}
    return known.pop() if len(known) == 1 else "undecided"


def in_words(finding: Finding, seeds: int) -> str:
    """The words, with what is needed to decide where there are too few seeds."""
    if finding == "undecided" and seeds < FEWEST_SEEDS:
        return "Undecided (needs at least six seeds)"
    return FINDINGS[finding]
