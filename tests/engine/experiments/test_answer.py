"""The answer to the documents' question: it rests on claims that exist, tells every issue, and says what the evidence says."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.experiments.answer import ANSWER, Paragraph, Section, Told, claim_of, read, statements
from engine.experiments.evidence.shipped import counted_findings, shipped_claims
from engine.experiments.experiment import Change
from engine.experiments.issues import ISSUES
from engine.experiments.statistics import Finding
from tests.weighed_again import findings

TOLD = [(told.issue, claim_of(told).sentence) for told in statements(ANSWER)]
MEASURED = {slug for slug, _ in findings()}


def test_each_statement_rests_on_one_measured_claim_and_none_is_told_twice() -> None:
    assert set(TOLD) <= findings().keys()
    assert [claim for claim, times in Counter(TOLD).items() if times > 1] == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("**About.** It is so. [fixed-encoding/nothing]", "rests on fixed-encoding/nothing"),
        ("**About.** It is so. [nothing/rope]", "rests on nothing/rope"),
    ],
)
def test_a_statement_that_rests_on_no_claim_is_refused(wrong: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(f"# Question?\n\n## Heading {{#name}}\n\n{wrong}\n")


def test_a_sentence_begins_on_a_line_of_its_own() -> None:
    text = "# Question\n\n## Heading {#name}\n\nA lead. [heads/narrow-heads]\n\n**About.** Plain\n  words.\n"
    text += "So. [heads/wider-heads turned]\n"
    lead, last = Told("A lead.", "heads", "narrow-heads"), Told("So.", "heads", "wider-heads", turned=True)
    assert read(text) == (
        "Question",
        (Section("Heading", "name", lead, (Paragraph("About.", ("Plain words.", last)),)),),
    )


def test_every_measured_issue_is_told_with_its_first_claim_and_so_is_every_claim_that_came_out_the_opposite() -> None:
    assert {(slug, ISSUES[slug].claims[0].sentence) for slug in MEASURED} <= set(TOLD)
    assert {claim for claim, found in findings().items() if found == "opposite"} <= set(TOLD)


def test_what_is_told_as_unexpected_does_not_hold() -> None:
    held = [told.text for told in statements(ANSWER[-1:]) if findings()[told.issue, claim_of(told).sentence] == "holds"]
    assert held == []


def test_each_statement_is_a_sentence() -> None:
    for told in statements(ANSWER):
        assert told.text[0].isupper() or told.text[0].isdigit(), told.text
        assert told.text.endswith("."), told.text


@pytest.mark.parametrize("slug", sorted(MEASURED))
def test_a_claim_has_the_finding_that_its_effects_give_when_they_are_weighed_again(slug: str) -> None:
    found = {(slug, one.claim.sentence): one.finding for one in shipped_claims(ISSUES[slug])}
    assert found == {claim: finding for claim, finding in findings().items() if claim[0] == slug}


@pytest.mark.parametrize("slug", sorted(MEASURED))
def test_the_two_numbers_of_a_claim_differ_by_its_effect(slug: str) -> None:
    for one in shipped_claims(ISSUES[slug]):
        assert 0 <= one.agreeing <= one.seeds == 16
        if one.sides is not None:
            assert isinstance(one.claim.effect, Change)
            assert one.sides[1] - one.sides[0] == pytest.approx(one.effect)


def test_the_counts_of_findings_add_up() -> None:
    every = [one for issue in ISSUES.values() for one in shipped_claims(issue)]
    assert counted_findings(every) == {finding: list(findings().values()).count(finding) for finding in Finding}
