"""Every comparison of accuracies without headroom is named, with the reason, in the table beside this module."""

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.issues import ISSUES
from tests.tables import tables_beside
from tools.headroom import accuracy_comparisons

REASONS: dict[str, dict[str, str]] = tables_beside(__file__)


def test_a_comparison_without_room_is_named_with_its_reason_and_all_others_have_room() -> None:
    """The key figure of an issue may have its reason, too, but no issue may be without any comparison that has room or a reason."""
    without = {}
    for slug, issue in ISSUES.items():
        found = shown_report(issue)
        assert found is not None
        if claims := {row.claim.id for row in accuracy_comparisons(found) if not row.has_room}:
            without[slug] = claims
    assert without == {slug: set(reasons) for slug, reasons in REASONS.items()}
    assert all(reason.endswith(".") for reasons in REASONS.values() for reason in reasons.values())
