import pytest

from engine.experiments.conclusions import CONCLUSIONS, Paragraph, Section, Statement, claim_of, read, statements
from engine.experiments.evidence.shipped import shipped_claims
from engine.experiments.experiment import CONFIRMATORY_SEEDS, Change
from engine.experiments.issues import ISSUES
from tests.weighed_again import findings

STATED = [(rows.issue, claim_of(rows).sentence) for rows in statements(CONCLUSIONS)]


def test_statements_rest_on_measured_claims_each_told_once_and_no_issue_and_no_opposite_is_left_out() -> None:
    assert len(set(STATED)) == len(STATED)
    assert set(STATED) <= findings().keys()
    assert {(slug, ISSUES[slug].claims[0].sentence) for slug, _ in findings()} <= set(STATED)
    assert {claim for claim, found in findings().items() if found == "opposite"} <= set(STATED)
    for rows in statements(CONCLUSIONS):
        assert rows.text[0].isupper() or rows.text[0].isdigit(), rows.text
        assert rows.text.endswith("."), rows.text
    unexpected = [found for found in CONCLUSIONS if found.anchor == "unexpected"]
    sentences = [
        rows.text for rows in statements(unexpected) if findings()[rows.issue, claim_of(rows).sentence] == "holds"
    ]
    assert sentences == [], "what is told as unexpected does not hold"


def test_a_sentence_begins_on_a_line_of_its_own_and_one_that_rests_on_no_claim_is_refused() -> None:
    text = "# Question\n\n## Heading {#name: it is so}\n\nA lead. [heads/narrow-heads]\n\n**About.** Plain\n  words.\n"
    text += "So. [heads/wider-heads turned]\n"
    lead, last = Statement("A lead.", "heads", "narrow-heads"), Statement("So.", "heads", "wider-heads", turned=True)
    section = Section("Heading", "name", "it is so", lead, (Paragraph("About.", ("Plain words.", last)),))
    assert read(text) == ("Question", (section,))
    for wrong in ("encoding-fits-task/nothing", "nothing/rope"):
        with pytest.raises(ValueError, match=f"rests on {wrong}"):
            read(text.replace("heads/narrow-heads", wrong))
    for wrong in (": it is so", " [heads/narrow-heads]"):
        with pytest.raises(ValueError, match="a statement comes next"):
            read(text.replace(wrong, ""))


def test_claims_have_the_findings_that_their_effects_give_when_they_are_weighed_again() -> None:
    every = {(slug, one.claim.sentence): one for slug, issue in ISSUES.items() for one in shipped_claims(issue)}
    assert {claim: one.finding for claim, one in every.items()} == findings()
    for one in every.values():
        assert 0 <= one.agreeing <= one.weighed.seeds == len(CONFIRMATORY_SEEDS)
        if one.sides is not None:
            assert isinstance(one.claim.effect, Change)
            assert one.sides[1] - one.sides[0] == pytest.approx(one.effect)
