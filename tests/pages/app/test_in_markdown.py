import re

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.foundation.glossary import TERMS
from pages.parts.app.in_markdown import links_to_terms, with_terms
from tests.tables import tables_beside

CASES = tables_beside(__file__)

FORMULA = re.compile(r"\$\$.+?\$\$|\$.+?\$", re.DOTALL)
LINK = re.compile(r"\[([^\[\]]+)\]\(glossary\?term=([\w-]+)\)")


def test_the_first_occurrence_of_a_term_over_all_texts_is_a_link() -> None:
    first, second = with_terms("A token, two tokens.", "Another token.")
    assert (first, second) == ("A [token](glossary?term=token), two tokens.", "Another token.")

    assert with_terms("`token`, then a token") == ["`token`, then a [token](glossary?term=token)"]

    links = links_to_terms("Two heads and a token.", "One head, one Loss.")
    linked = {"Head": "head", "Token": "token", "Loss (cross-entropy)": "loss"}
    assert links == ", ".join(f"[{name}](glossary?term={slug})" for name, slug in linked.items())

    words = [word.casefold() for term in TERMS.values() for word in (term.name, *term.words)]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(("text", "word", "slug"), CASES["linked"])
def test_names_and_other_words_are_found_whole(text: str, word: str, slug: str) -> None:
    (linked,) = with_terms(text)
    assert LINK.findall(linked) == ([(word, slug)] if word else [])
    assert LINK.sub(r"\1", linked) == text


@pytest.mark.parametrize("text", CASES["left_alone"])
def test_tex_code_links_and_parts_of_words_are_left_alone(text: str) -> None:
    assert (with_terms(text), links_to_terms(text)) == ([text], "")


@pytest.mark.parametrize("issue", ISSUES.values(), ids=lambda issue: issue.slug)
def test_an_explanation_has_links_and_keeps_its_words_and_formulas(issue: Issue) -> None:
    texts = (issue.summary, issue.mechanism, *issue.remedies)
    linked = with_terms(*texts)
    slugs = [slug for text in linked for _, slug in LINK.findall(text)]
    assert slugs
    assert len(set(slugs)) == len(slugs)
    assert set(slugs) <= set(TERMS)
    assert tuple(LINK.sub(r"\1", text) for text in linked) == texts
    formulas = [formula for text in linked for formula in FORMULA.findall(text)]
    assert not any(LINK.search(formula) for formula in formulas)
