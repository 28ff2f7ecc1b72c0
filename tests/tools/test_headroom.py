"""Room to differ: every comparison of accuracies without it is named, with the reason, in the table beside this module."""

from dataclasses import replace

import pytest

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import Arm, Claim, above, difference, rise
from engine.experiments.issues import ISSUES
from engine.experiments.report import Report, report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue
from tests.tables import tables_beside
from tools.headroom import HIGHEST, LOWEST, compared, headroom_table

REASONS: dict[str, dict[str, str]] = tables_beside(__file__)


def test_a_comparison_without_room_is_named_with_its_reason_and_all_others_have_room() -> None:
    """The key figure of an issue may have its reason, too, but no issue may be without any comparison that has room or a reason."""
    without = {}
    for slug, issue in ISSUES.items():
        found = shown_report(issue)
        assert found is not None
        if claims := {row.claim.id for row in compared(found) if not row.has_room}:
            without[slug] = claims
    assert without == {slug: set(reasons) for slug, reasons in REASONS.items()}
    assert all(reason.endswith(".") for reasons in REASONS.values() for reason in reasons.values())


def found(**accuracies: float) -> Report:
    arms = tuple(Arm(name, "comparison") for name in accuracies)
    first, second, *_ = accuracies
    claims = (
        Claim("compared", difference(first, second, "accuracy"), 0.05),
        Claim("alone", above(first, "accuracy", 0.1), 0.05),
        Claim("along", rise(first, "accuracy@48", "accuracy"), 0.05),
        Claim("computed", difference(first, second, "accuracy"), 0.05, computed=True),
        Claim("losses", difference(first, second, "loss"), 0.05),
    )
    trials = [
        Trial(name, seed, {"accuracy": value, "loss": 1.0}) for name, value in accuracies.items() for seed in range(8)
    ]
    return report(replace(fake_issue(), arms=arms, claims=claims), trials, range(8))


@pytest.mark.parametrize(
    ("better", "has_room"), [(LOWEST, True), (0.9, True), (HIGHEST, True), (0.74, False), (0.98, False), (1.0, False)]
)
def test_the_better_of_two_models_must_be_neither_nearly_perfect_nor_hardly_trained(
    better: float, has_room: bool
) -> None:
    for accuracies in ({"one": better, "two": 0.1}, {"one": 0.3, "two": better}):
        (row,) = compared(found(**accuracies))
        assert (row.claim.id, row.control, row.has_room) == ("compared", pytest.approx(better), has_room)


def test_the_table_counts_and_names_what_has_no_room() -> None:
    lines = headroom_table([found(one=1.0, two=0.5), found(one=0.9, two=0.5)]).splitlines()
    assert lines[-1] == "| all | 1 of 1 | |", "the second report has the slug of the first"
    assert "| `fake` | 0 of 1 | `compared` 1.000 |" in headroom_table([found(one=1.0, two=0.5)])
