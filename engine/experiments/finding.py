"""What was found about a claim, in the four words of every page: it holds, the opposite holds, no effect worth naming, undecided.

A stored verdict knows three; the fourth is read from its effect and interval, so that stored evidence keeps its form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from engine.experiments.statistics import Weighed, lowest_p

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
LOWEST_P = f"With eight seeds p cannot fall below {lowest_p(8):.4f}, whatever the effect."


def finding_of(weighed: Weighed, smallest: float, direction: Literal["more", "less"]) -> Finding:
    """The finding behind a verdict; ``smallest`` and ``direction`` are those of the claim.

    The opposite holds where the whole interval lies on the other side of zero and the mean is at least ``smallest`` there.
    """
    match weighed.verdict:
        case "shown":
            return "holds"
        case "inconclusive":
            return "undecided"
    if weighed.effect is None or weighed.ci is None:
        return "none"
    sign = 1.0 if direction == "more" else -1.0
    high = max(sign * weighed.ci[0], sign * weighed.ci[1])
    return "opposite" if high < 0 and -sign * weighed.effect >= smallest else "none"


def agreed(findings: Sequence[Finding | None]) -> Finding:
    """The common finding of several sets of seeds; undecided where they disagree."""
    known = {finding for finding in findings if finding is not None}
    return known.pop() if len(known) == 1 else "undecided"


def in_words(finding: Finding, seeds: int) -> str:
    """The words, with what is needed to decide where there are too few seeds."""
    if finding == "undecided" and seeds < FEWEST_SEEDS:
        return "Undecided (needs at least six seeds)"
    return FINDINGS[finding]
