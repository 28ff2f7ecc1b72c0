"""The page of the answer by its words: every mark says what the evidence says and leads to an issue that exists."""

import re
from dataclasses import replace

import pytest

from engine.experiments.answer import ANSWER, QUESTION, claim_of, statements
from engine.experiments.evidence.shipped import shipped_claims
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from pages.parts.answer import prose
from pages.parts.answer.prose import as_found, lead_of, mark, numbers, opening
from tests.pages.looking import Open
from tests.weighed_again import findings

MARK = re.compile(r"\[:\w+-badge\[:material/\w+: ([\w ]+)\] [^]]+\]\(#issue=([\w-]+) \"([^\"]+)\"\)")
MEASURED = {slug for slug, _ in findings()}


def test_the_page_tells_every_statement_with_the_finding_of_its_claim_and_counts_them(open_page: Open) -> None:
    app = open_page("answer.py")
    boxes = [box.value for box in app.markdown]
    words = " ".join(boxes)
    assert QUESTION in words
    assert [box.value for box in app.header] == [section.heading for section in ANSWER]
    leads = [section.lead for section in ANSWER if section.lead is not None]  # the short answer, before all
    expected = [(told.issue, claim_of(told)) for told in (*leads, *statements(ANSWER))]
    shown = MARK.findall(words)
    assert {slug for _, slug, _ in shown} == MEASURED
    assert len(shown) == len(expected)
    for (finding, slug, tested), (issue, claim) in zip(shown, expected, strict=True):
        assert slug == issue
        assert slug in ISSUES
        assert tested.startswith(claim.sentence)
        assert finding == findings()[slug, claim.sentence].words

    every, first = (
        next(text for text in boxes if said in text)
        for said in (f"**{len(findings())} claims", f"**{len(MEASURED)} questions")
    )
    heads = [findings()[slug, issue.claims[0].sentence] for slug, issue in ISSUES.items() if slug in MEASURED]
    for found in Finding:
        assert f"{found.words}: {list(findings().values()).count(found)}]" in every
        assert f"{found.words}: {heads.count(found)}]" in first
    assert any(f"{len(heads)} possible issues" in text and f"{heads.count('holds')} of them" in text for text in boxes)
    for section in ANSWER:
        assert opening(section) in boxes
        assert any(f"(#{section.anchor})" in text and lead_of(section) in text for text in boxes)


def test_a_turned_statement_tells_the_same_two_numbers_the_other_way_round() -> None:
    found = next(one for one in shipped_claims(ISSUES["missing-skips"]) if one.sides is not None)
    before, after = numbers(found).split(" in ")[0].split("\u00a0→\u00a0")
    assert numbers(found, turned=True).startswith(f"{after}\u00a0→\u00a0{before} in ")
    assert all("→" in mark(told) for told in statements(ANSWER) if told.turned), "others have not two numbers"


def test_the_short_answer_is_told_by_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    told = next(section.lead for section in ANSWER if section.lead is not None)
    found = next(one for one in shipped_claims(ISSUES[told.issue]) if one.claim == claim_of(told))
    assert found.finding == "holds"
    assert as_found(told) == told.text
    for finding in Finding:
        monkeypatch.setattr(prose, "found_of", lambda slug, finding=finding: (replace(found, finding=finding),))
        assert as_found(told).endswith(told.text)
        assert (as_found(told) == told.text) == (finding == "holds")
