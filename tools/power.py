"""The power of the rule, and its share of decisions if there is no effect, measured on the shipped evidence.

``python -m tools.power`` measures it, in about three minutes, and writes it into ``docs/fair.md``, between two marks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.shipped import sets_of_seeds, shipped_reports
from engine.experiments.experiment import Change
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.report import Report
from engine.experiments.statistics import weigh
from engine.foundation.formatting import percent

FAIR = FOLDER.parents[2] / "docs" / "fair.md"
BEGIN, END = "<!-- power: written by python -m tools.power -->\n", "<!-- end of power -->\n"
TIMES = (1.0, 1.25, 1.5, 2.0)  # the sizes of a true effect, as multiples of the smallest one that counts
COLUMNS = {"found with 8 seeds": 8, "found with 16 seeds": 16}  # seeds by title
HALF = 8  # seeds of one arm that are compared with as many others of the same arm
# draws of each claim at each size and number of seeds, and of each number of an arm against itself
DRAWS, DRAWS_ALIKE = 100, 60


@dataclass(frozen=True)
class Spread:
    """Numbers by seed, [seed], with the spread of the evidence, and the smallest effect that counts among them."""

    numbers: np.ndarray
    smallest: float
    direction: Literal["more", "less"] = "more"


def effects_of(reports: Sequence[Report]) -> list[Spread]:
    by_claim: dict[str, list[float]] = {}
    claims = {row.claim.id: row.claim for each in reports for row in each.claims}
    for row in (row for each in reports for row in each.claims):
        by_claim.setdefault(row.claim.id, []).extend(effect for effect in row.effects if effect is not None)
    rows = (
        Spread(np.array(effects), claims[name].smallest_effect, claims[name].direction)
        for name, effects in by_claim.items()
    )
    return list(_spread_out(rows))


def numbers_of(reports: Sequence[Report]) -> list[Spread]:
    smallest: dict[tuple[str, str], float] = {}
    for claim in (row.claim for each in reports[:1] for row in each.claims):
        if isinstance(claim.effect, Change):
            for side in (claim.effect.before, claim.effect.after):
                if isinstance(side, tuple):
                    smallest[side] = min(smallest.get(side, claim.smallest_effect), claim.smallest_effect)
    every = ((np.concatenate([each.values(*number) for each in reports]), size) for number, size in smallest.items())
    return list(_spread_out(Spread(numbers[np.isfinite(numbers)], size) for numbers, size in every))


def _spread_out(rows: Iterable[Spread]) -> Iterable[Spread]:
    """Rows with enough numbers that differ: of a count, every seed has the same."""
    return (row for row in rows if len(row.numbers) >= 2 * HALF and np.ptp(row.numbers) > 0)


def share_found(rows: Sequence[Spread], times: float, seeds: int, draws: int) -> float:
    """The share of draws in which so many seeds find a true effect of so many times the smallest size.

    The effects of each claim are drawn again, with replacement; their spread stays, and their mean moves to that size.
    """
    random, hits = np.random.default_rng(0), 0
    for row in rows:
        count = len(row.numbers)
        spread = np.sqrt(count / (count - 1))  # drawn again, they have their own
        around = (row.numbers - row.numbers.mean()) * spread
        true = times * row.smallest * (1 if row.direction == "more" else -1)
        for _ in range(draws):
            drawn = true + random.choice(around, seeds)
            hits += weigh(drawn, row.smallest, row.direction).finding is Finding.HOLDS
    return hits / (len(rows) * draws)


def share_wrong(rows: Sequence[Spread], draws: int) -> float:
    """The share of draws in which eight seeds of an arm against eight others of the same arm are decided (A/A)."""
    random, wrong = np.random.default_rng(0), 0
    for row in rows:
        for _ in range(draws):
            one, other = random.permutation(row.numbers)[: 2 * HALF].reshape(2, HALF)
            wrong += weigh(one - other, row.smallest).finding in (Finding.HOLDS, Finding.OPPOSITE)
    return wrong / (len(rows) * draws)


def measured(draws: int = DRAWS, draws_alike: int = DRAWS_ALIKE) -> str:
    """The Markdown table on all issues over all sets of seeds, with its sentences. ``draws``: of each claim at each
    size and number of seeds; ``draws_alike``: of each number of an arm against itself."""
    by_issue = [reports for issue in ISSUES.values() if (reports := shipped_reports(issue))]
    effects = [row for reports in by_issue for row in effects_of(reports)]
    numbers = [row for reports in by_issue for row in numbers_of(reports)]
    lines = ""
    for times in TIMES:
        shares = [share_found(effects, times, seeds, draws) for seeds in COLUMNS.values()]
        size = "exactly the smallest size" if times == 1 else f"{times:g} times the smallest size"
        lines += f"| {size} | {' | '.join(map(percent, shares))} |\n"
    wrong = 100 * share_wrong(numbers, draws_alike)
    names = " and ".join(f"{one['seeds'][0]} to {one['seeds'][-1]}" for one in sets_of_seeds())
    return f"""\
| true effect | {" | ".join(COLUMNS)} |
|--|{"--:|" * len(COLUMNS)}
{lines}
Measured on the effects of {len(effects)} claims over seeds {names}. Of each claim, effects are drawn again {draws:,} times for
each cell, with their spread kept and their mean moved to the true effect. *Found* is “holds”.

False positives: {wrong:.2f} % are decided where there is nothing to find, {HALF} seeds of an arm against {HALF} other seeds of
the same arm (A/A): {len(numbers) * draws_alike:,} draws over {len(numbers)} numbers of arms, each weighed with the smallest size that
counts in a claim about it.
"""


def between_marks(text: str, section: str, begin: str = BEGIN, end: str = END) -> str:
    """The text with this section between the two marks. Raises ValueError unless it has each of them once."""
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"The text must have {begin.strip()} and {end.strip()} once each.")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{section}{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    FAIR.write_text(between_marks(FAIR.read_text("utf-8"), measured()), encoding="utf-8")
