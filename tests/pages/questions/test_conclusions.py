import re
from dataclasses import replace

import pytest

from engine.experiments.conclusions import CONCLUSIONS, QUESTION, Statement, claim_of, statements
from engine.experiments.evidence.shipped import shipped_claims
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.long_findings import shipped_long_finding
from pages.parts.app.in_markdown import escaped
from pages.parts.questions import conclusions
from pages.parts.questions.conclusions import (
    IN_SHORT,
    conclusion,
    findings,
    in_doubt,
    in_numbers,
    in_short,
    in_words,
    long_findings_of,
    numbers,
)
from tests.pages.looking import Open, page_text


def finding_of(statement: Statement) -> Finding:
    """The finding of the claim on which a statement rests."""
    claims = shipped_claims(ISSUES[statement.issue])
    return next(one.finding for one in claims if one.claim.sentence == claim_of(statement).sentence)


def test_below_the_map_stands_the_question_with_its_answer_in_short_and_in_numbers(open_page: Open) -> None:
    app = open_page("questions.py", found="true")
    assert all(words in page_text(app) for words in (QUESTION, in_short(), in_numbers()))
    claims = [claim for slug in ISSUES for claim in shipped_claims(ISSUES[slug])]
    measured = [claim.finding for claim in claims if not claim.claim.computed]
    assert f"**{len(measured)} claims were measured**" in in_numbers()
    assert all(f"{found.words}: {measured.count(found)}]" in in_numbers() for found in Finding)
    assert f"{len(claims) - len(measured)} more follow from formulas, counts or theorems" in in_numbers()


def test_every_question_has_its_conclusion_and_every_statement_stands_once_on_the_page_of_its_question() -> None:
    pages = {slug: "\n".join(findings(slug).values()) for slug in ISSUES}
    for slug, issue in ISSUES.items():
        assert conclusion(issue)
        assert conclusion(issue) in pages[slug]
    for statement in statements(CONCLUSIONS):
        assert [slug for slug in ISSUES for _ in range(pages[slug].count(statement.text))] == [statement.issue]
        found = finding_of(statement)
        before, after = in_words(statement).split(statement.text)
        assert before == ("" if found is Finding.HOLDS else f"**{IN_SHORT[found]}:** ")
        assert re.match(r" :gray\[.+ \d+ seeds\]", after)


def test_a_plain_sentence_stands_before_the_statements_that_it_introduces() -> None:
    found = findings("what-depth-brings")
    assert found["What depth brings"].startswith("To recall the symbol that came next last time is called one hop.")
    assert "Deep models are said to overfit" not in "".join(found.values())


def test_in_short_tells_apart_what_holds_and_what_does_not() -> None:
    yes, *others = f"{in_short()} {in_doubt()}".split(". ")
    for section in CONCLUSIONS:
        found = finding_of(section.lead)
        (conclusion,) = (part for part in (yes, *others) if section.short in part)
        assert conclusion.startswith("A deep stack goes wrong where" if found is Finding.HOLDS else IN_SHORT[found])


def test_a_turned_statement_tells_the_same_two_numbers_the_other_way_round() -> None:
    found = next(one for one in shipped_claims(ISSUES["missing-skips"]) if one.sides is not None)
    before, after = numbers(found).split(" in ")[0].split("\u00a0→\u00a0")
    assert numbers(found, turned=True).startswith(f"{after}\u00a0→\u00a0{before} in ")
    assert all("→" in in_words(statement) for statement in statements(CONCLUSIONS) if statement.turned), (
        "others have not two numbers"
    )


def test_the_words_before_a_statement_are_those_of_its_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    statement = CONCLUSIONS[0].lead
    found = next(one for one in shipped_claims(ISSUES[statement.issue]) if one.claim == claim_of(statement))
    assert found.finding == "holds"
    for finding in Finding:
        other = replace(found, weighed=replace(found.weighed, finding=finding))
        monkeypatch.setattr(conclusions, "claims_of", lambda slug, other=other: (other,))
        assert in_words(statement).startswith(statement.text) == (finding == "holds")
        assert statement.text in in_words(statement)


def test_after_the_statement_on_the_question_stands_what_long_runs_say(long_runs_of_mask: Issue) -> None:
    slug = long_runs_of_mask.slug
    speed = shipped_long_finding(long_runs_of_mask)
    assert speed is not None
    assert long_findings_of(slug) == {long_runs_of_mask.key_figure.claim: speed.sentence}
    assert speed.sentence not in conclusion(long_runs_of_mask), "a tile of the map has one sentence"
    assert findings(slug)[""].count(escaped(speed.sentence)) == 1
    assert long_findings_of("heads") == {}
    assert conclusion(ISSUES["heads"]).endswith("]")
