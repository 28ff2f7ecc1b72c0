"""A wrong link costs only its wrong part, which is named with the allowed values; a reader's text is shown as inline code: no link
writes a headline, a way out or a wall of text onto a page."""

from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from engine.settings.errors import MAX_SHOWN_CHARACTERS, ConfigError, Problem, quoted
from pages.parts.app.in_markdown import as_code, in_markdown
from tests.pages.looking import Open, page_text
from tests.tables import tables_beside

CASES = tables_beside(__file__)
HOSTILE = (*CASES["hostile"], "# " * 10_000)
# pages with a part of a link that is right, and with others that are wrong: each with its text and the allowed values, nothing if
# the page has no setting of that name
WRONG = [(row["page"], row["right"], row["wrong"]) for row in CASES["link"]]
PAGES = [*dict.fromkeys(page for page, *_ in WRONG), "start.py"]


@pytest.mark.parametrize(("page", "right", "wrong"), WRONG)
def test_each_part_of_a_link_that_is_wrong_is_named_with_what_is_allowed_and_no_other_is_lost(
    open_page: Open, page: str, right: dict[str, str], wrong: dict[str, tuple[str, str]]
) -> None:
    app = open_page(page, **right | {name: text for name, (text, _) in wrong.items()})
    for name, (text, allowed) in wrong.items():
        problem = f"`{name}` is `{text}`; it must be {allowed}" if allowed else f"`{name}` is not a setting here."
        assert problem in page_text(app)
        assert app.query_params.get(name) != text
    assert right.items() <= dict(app.query_params).items()


def test_what_can_only_mean_one_thing_is_understood_and_marks_of_others_are_passed_over(open_page: Open) -> None:
    marks = {"utm_source": "moodle", "fbclid": "x"}
    lab = open_page("lab.py", pos_encoding="RoPE", d_model="64", preset="Three_Back", **marks)
    assert not lab.warning
    assert (lab.session_state["form"]["pos_encoding"], lab.session_state["form"]["d_model"]) == ("rope", 64)
    issues = open_page("questions.py", issue="missing_mask", **marks)
    assert not issues.warning
    assert issues.query_params["issue"] == "missing-mask"
    assert "Ignored in the link: `taks` is not a setting here. Did you mean task?" in page_text(
        open_page("lab.py", taks="sort")
    )
    text = page_text(open_page("questions.py", issue="mising-mask"))
    assert "Did you mean missing-mask?" in text


def test_a_run_that_is_not_kept_or_of_another_kind_is_none_of_the_page(open_page: Open) -> None:
    lab = open_page("lab.py", run="../../etc/passwd")
    assert "run is `../../etc/passwd`; this server has no such run." in page_text(lab)
    assert "run" not in lab.session_state


def tokens(markdown: str) -> Iterator[Token]:
    """Every token of a text, those within a line too."""
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        yield token
        yield from token.children or ()


def assert_harmless(markdown: str) -> None:
    """Check for a paragraph of plain words and short inline code. Streamlit also reads addresses, formulas and colours outside of
    code."""
    for token in tokens(markdown):
        assert token.type in ("paragraph_open", "paragraph_close", "inline", "text", "code_inline"), (token, markdown)
        if token.type == "code_inline":
            assert len(token.content) <= MAX_SHOWN_CHARACTERS
            assert token.content.isprintable()
        elif token.type == "text":
            assert not [sign for sign in ("://", "www.", "$", ":red", ":smile") if sign in token.content], markdown


@pytest.mark.parametrize("given", HOSTILE)
def test_what_was_given_cannot_leave_its_code_and_is_one_short_line_in_a_terminal(given: str) -> None:
    for shown in (
        as_code(given),
        in_markdown(Problem(given, given, "a whole number")),
        in_markdown(ConfigError([Problem("steps", given, "x"), Problem(given, "5", "y")])),
        in_markdown(ValueError(f"Your token {quoted(given)} is not known; it must be {quoted(given)}.")),
    ):
        assert_harmless(shown)
        assert "\n" not in shown
        assert "code_inline" in [token.type for token in tokens(shown)]
    line = str(Problem("steps", given, "a number"))
    assert line.isprintable()
    assert len(line) <= MAX_SHOWN_CHARACTERS + len("steps is ; it must be a number.")


def test_what_can_be_shown_is_shown_as_it_is() -> None:
    for given in ("99", "a_b*c*", "../../etc/passwd", "`x`", "a``b", "x" * MAX_SHOWN_CHARACTERS):
        assert [token.content for token in tokens(as_code(given)) if token.type == "code_inline"] == [given]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("first", [0, 7])
def test_no_link_writes_onto_a_page(open_page: Open, page: str, first: int) -> None:
    values = [*HOSTILE[first:], *HOSTILE[:first]]
    names = [name for at, right, wrong in WRONG if at == page for name in (*right, *wrong)]
    query = {name: values[index % len(values)] for index, name in enumerate([*names, *CASES["more"]])}
    app = open_page(page, **query, **{given: given for given in HOSTILE if given.strip()})
    shown = [box.value for kind in ("warning", "error", "info", "toast") for box in app.get(kind)]
    ignored = [sentence for sentence in shown if sentence.startswith("Ignored in the link")]
    assert len(ignored) >= (0 if page == "start.py" else len(HOSTILE) - 1)
    if page == "start.py":
        assert shown, "what is searched for is repeated"
    for sentence in shown:
        assert_harmless(sentence)
        assert len(sentence) < 4000
