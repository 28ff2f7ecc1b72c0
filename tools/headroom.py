"""Headroom: if the better of two compared models is nearly perfect, or has hardly learned, a comparison can show little."""

from collections.abc import Sequence
from typing import NamedTuple

from engine.experiments.experiment import Change, Claim
from engine.experiments.report import Report, sides_of

LOWEST, HIGHEST = 0.75, 0.97  # the accuracies between which the better model of a comparison should end


class AccuracyComparison(NamedTuple):
    """A claim on the accuracies of two arms, with the mean accuracy of the better one."""

    claim: Claim
    control: float

    @property
    def has_room(self) -> bool:
        return LOWEST <= self.control <= HIGHEST


def accuracy_comparisons(report: Report) -> list[AccuracyComparison]:
    rows = [(row.claim, sides_of(row.claim, report.values)) for row in report.claims if _compares_accuracies(row.claim)]
    return [AccuracyComparison(claim, max(sides)) for claim, sides in rows if sides is not None]


def headroom_table(reports: Sequence[Report]) -> str:
    lines = ["| issue | with room | without room, and the accuracy of the better model |\n", "|--|--|--|\n"]
    every = {each.experiment.slug: accuracy_comparisons(each) for each in reports}
    for slug, rows in every.items():
        if rows:
            without = ", ".join(f"`{row.claim.id}` {row.control:.3f}" for row in rows if not row.has_room)
            lines.append(f"| `{slug}` | {sum(row.has_room for row in rows)} of {len(rows)} | {without} |\n")
    rows = [row for those in every.values() for row in those]
    return "".join([*lines, f"| all | {sum(row.has_room for row in rows)} of {len(rows)} | |\n"])


def _compares_accuracies(claim: Claim) -> bool:
    if claim.computed or not isinstance(claim.effect, Change) or not isinstance(claim.effect.before, tuple):
        return False
    (arm, metric), (other, other_metric) = claim.effect.before, claim.effect.after
    return arm != other and "accuracy" in metric and "accuracy" in other_metric
