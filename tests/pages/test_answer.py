"""The page of the answer by its words: every mark says what the evidence says and leads to an issue that exists. That the findings are
those of its numbers is tested beside :mod:`engine.experiments.answer`."""

import re
from dataclasses import replace

import pytest

from engine.experiments.answer import ANSWER, QUESTION, claim_of, statements
from engine.experiments.evidence.shipped import shipped_claims
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from pages.parts.answer import prose
from pages.parts.answer.prose import IN_SHORT, figures_of, in_short, lead_of, mark, numbers
from tests.pages.looking import Open, said

MARK = re.compile(r"\[(?::\w+-badge\[:material/\w+: ([\w ]+)\] )?[^]]+\]\(#issue=([\w-]+) \"([^\"]+)\"\)")
FINDINGS = {(slug, one.claim.sentence): one.finding for slug, issue in ISSUES.items() for one in shipped_claims(issue)}
MEASURED = {slug for slug, _ in FINDINGS}


def test_the_page_tells_every_statement_with_the_finding_of_its_claim_and_counts_them(open_page: Open) -> None:
    app = open_page("answer.py")
    boxes = [box.value for box in app.markdown]
    words = " ".join(boxes)
    assert QUESTION in words
    assert [box.value for box in app.header] == [section.heading for section in ANSWER]
    expected = [(told.issue, claim_of(told)) for told in statements(ANSWER)]
    shown = MARK.findall(words)
    assert {slug for _, slug, _ in shown} == MEASURED
    assert len(shown) == len(expected)
    for (finding, slug, tested), (issue, claim) in zip(shown, expected, strict=True):
        assert slug == issue
        assert slug in ISSUES
        assert tested.startswith(claim.sentence)
        what = FINDINGS[slug, claim.sentence]
        assert finding == ("" if what is Finding.HOLDS else what.words), (
            "only what does not hold has its finding beside it"
        )

    claims = [claim for slug in ISSUES for claim in shipped_claims(ISSUES[slug])]
    measured = [claim.finding for claim in claims if not claim.claim.computed]
    every = next(text for text in boxes if f"**{len(measured)} claims were measured**" in text)
    assert all(f"{found.words}: {measured.count(found)}]" in every for found in Finding)
    assert f"{len(claims) - len(measured)} more are computed" in every
    assert in_short(ANSWER) in boxes
    assert all(lead_of(section) in boxes for section in ANSWER)


def test_each_block_has_one_figure_one_remedy_and_all_else_folded_in_at_most_500_words(open_page: Open) -> None:
    app = open_page("answer.py")
    folds = app.get("expander")
    assert len(folds) == len(ANSWER)
    folded = " ".join(box.value for fold in folds for kind in ("markdown", "caption") for box in fold.get(kind))
    words, further = (len(re.sub(r' "[^"]+"\)', "", text).split()) for text in (said(app), folded))
    assert 200 < words - further <= 500
    for section in ANSWER:
        figure = ISSUES[section.lead.issue].key_figure
        assert f"**What helps:** {figure.remedy} [" in said(app)
        (panel,) = figures_of(section.lead.issue)
        assert (panel.title, len(panel.figure.layout.yaxis.ticktext)) == (figure.quantity, len(figure.rows))
        assert figure.change in panel.alt


def test_in_short_tells_apart_what_holds_and_what_does_not() -> None:
    yes, *others = in_short(ANSWER).split(". ")
    for section in ANSWER:
        found = FINDINGS[section.lead.issue, claim_of(section.lead).sentence]
        (told,) = (part for part in (yes, *others) if f"[{section.short}](#{section.anchor})" in part)
        assert told.startswith(
            "**In short:** A stack of self-attention layers goes wrong where"
            if found is Finding.HOLDS
            else IN_SHORT[found]
        )


def test_a_turned_statement_tells_the_same_two_numbers_the_other_way_round() -> None:
    found = next(one for one in shipped_claims(ISSUES["missing-skips"]) if one.sides is not None)
    before, after = numbers(found).split(" in ")[0].split("\u00a0→\u00a0")
    assert numbers(found, turned=True).startswith(f"{after}\u00a0→\u00a0{before} in ")
    assert all("→" in mark(told) for told in statements(ANSWER) if told.turned), "others have not two numbers"


def test_the_short_answer_is_told_by_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    block, told = ANSWER[0], ANSWER[0].lead
    found = next(one for one in shipped_claims(ISSUES[told.issue]) if one.claim == claim_of(told))
    assert found.finding == "holds"
    assert lead_of(block) == f"**{told.text}** {mark(told)}"
    for finding in Finding:
        other = replace(found, weighed=replace(found.weighed, finding=finding))
        monkeypatch.setattr(prose, "found_of", lambda slug, other=other: (other,))
        assert f"{told.text}** [" in lead_of(block)
        assert lead_of(block).startswith(f"**{told.text}") == (finding == "holds")
