"""The page of the answer by its words: every mark says what the evidence says and leads to an issue that exists."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from engine.experiments.answer import ANSWER, QUESTION, Told, claim_of, statements
from engine.experiments.finding import FINDINGS
from engine.experiments.issues import ISSUES
from engine.experiments.shipped_claims import shipped_claims
from pages.parts.answer import prose
from pages.parts.answer.prose import mark, numbers
from pages.parts.answer.short import as_found, begin, lead_of
from tests.weighed_again import findings

Open = Callable[..., AppTest]
MARK = re.compile(r"\[:\w+-badge\[:material/\w+: ([\w ]+)\] [^]]+\]\(#issue=([\w-]+) \"([^\"]+)\"\)")
MEASURED = {slug for slug, _ in findings()}


def test_the_page_tells_every_statement_with_the_finding_of_its_claim(open_page: Open) -> None:
    app = open_page("answer.py")
    words = " ".join(box.value for box in app.markdown)
    assert QUESTION in words
    assert [box.value for box in app.header] == [section.heading for section in ANSWER]
    leads = [section.lead for section in ANSWER if section.lead is not None]  # the short answer, before all
    expected = [(told.issue, claim_of(told)) for told in (*leads, *statements(ANSWER))]
    shown = MARK.findall(words)
    assert len(shown) == len(expected)
    for (finding, slug, tested), (issue, claim) in zip(shown, expected, strict=True):
        assert slug == issue
        assert slug in ISSUES
        assert tested.startswith(claim.sentence)
        assert finding == FINDINGS[findings()[slug, claim.sentence]]


def test_the_summary_counts_every_claim_and_the_first_ones(open_page: Open) -> None:
    words = [box.value for box in open_page("answer.py").markdown]
    every, first = (
        next(text for text in words if said in text)
        for said in (f"**{len(findings())} claims", f"**{len(MEASURED)} questions")
    )
    heads = [findings()[slug, issue.claims[0].sentence] for slug, issue in ISSUES.items() if slug in MEASURED]
    for finding, said in FINDINGS.items():
        assert f"{said}: {list(findings().values()).count(finding)}]" in every
        assert f"{said}: {heads.count(finding)}]" in first


def test_each_measured_issue_is_linked(open_page: Open) -> None:
    words = " ".join(box.value for box in open_page("answer.py").markdown)
    assert {slug for _, slug, _ in MARK.findall(words)} == MEASURED


def test_a_turned_statement_tells_the_same_two_numbers_the_other_way_round() -> None:
    found = next(one for one in shipped_claims(ISSUES["missing-skips"]) if one.sides is not None)
    before, after = numbers(found).split(" in ")[0].split("\u00a0→\u00a0")
    assert numbers(found, turned=True).startswith(f"{after}\u00a0→\u00a0{before} in ")


@pytest.mark.parametrize("told", [one for one in statements(ANSWER) if one.turned], ids=lambda told: told.claim)
def test_only_statements_with_two_numbers_are_turned(told: Told) -> None:
    assert "→" in mark(told)


def test_the_short_answer_is_told_by_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    told = next(section.lead for section in ANSWER if section.lead is not None)
    found = next(one for one in shipped_claims(ISSUES[told.issue]) if one.claim == claim_of(told))
    assert found.finding == "holds"
    assert as_found(told) == told.text
    for finding in FINDINGS:
        monkeypatch.setattr(prose, "found_of", lambda slug, finding=finding: (replace(found, finding=finding),))
        assert as_found(told).endswith(told.text)
        assert (as_found(told) == told.text) == (finding == "holds")


def test_the_short_answer_counts_the_first_claims_and_begins_each_section(open_page: Open) -> None:
    words = [box.value for box in open_page("answer.py").markdown]
    heads = [findings()[slug, issue.claims[0].sentence] for slug, issue in ISSUES.items() if slug in MEASURED]
    assert any(f"{len(heads)} possible issues" in text and f"{heads.count('holds')} of them" in text for text in words)
    for section in ANSWER:
        assert begin(section) in words
        assert any(f"(#{section.anchor})" in text and lead_of(section) in text for text in words)
