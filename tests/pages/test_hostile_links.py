"""What a reader gives is shown as inline code: no link writes a headline, a way out or a wall of text onto a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from engine.settings.errors import LONGEST_SHOWN, ConfigError, Problem, quoted
from pages.parts.app.in_markdown import as_code, in_markdown
from tests.pages.looking import Open

HOSTILE = (
    "x\n\n# Your session has expired\n\n[Log in again](https://evil.example/login)",
    "`x` [Log in](https://evil.example) `",
    "```\n# Sorry\n```",
    "``[a](https://evil.example)",
    "\\`[a](https://evil.example)\\`",
    "“[a](https://evil.example)” # ",
    "![](https://evil.example/x.png)",
    "<https://evil.example> <img src=https://evil.example/x>",
    "https://evil.example www.evil.example",
    "$x$ :red[Stop] :material/warning: :smile: $$y$$",
    "a\r\n---\r\n\r\n> quoted\u2028# x\u0085# y",
    "\u202egnitceles\u2066\u200b",
    " ",
    "`",
    "# " * 10_000,
)
LAB = "run preset task pos_encoding n_layers dropout test_lengths v text hide lock"
PAGES = {
    "lab.py": tuple(LAB.split()),
    "story.py": ("step", "choice", "seed", "run", "hide", "lock"),
    "issues.py": ("issue", "experiment", "seeds", "first_seed", "extended"),
    "encodings.py": ("a", "b", "view", "reach", "run", "step", "needs", "seed", "hide", "lock"),
    "attention.py": ("run", "view", "which", "layer", "sample", "temperature", "off", "faults", "text", "hide"),
    "text.py": ("run", "text", "pos_encoding", "vocab_size", "steps", "hide", "lock"),
    "design.py": ("design_width", "design_features", "against", "tasks", "seeds", "experiment"),
    "memory_and_time.py": ("kinds", "longest", "device", "memory", "models", "sweep", "hide", "lock"),
    "notebooks.py": ("play",),
    "notebook.py": ("notebook", "play"),
    "glossary.py": ("term",),
}


def tokens(markdown: str) -> Iterator[Token]:
    """Every token of a text, those within a line too."""
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        yield token
        yield from token.children or ()


def assert_harmless(markdown: str) -> None:
    """A paragraph of plain words and short inline code. Streamlit also reads addresses, formulas and colours outside of code."""
    for token in tokens(markdown):
        assert token.type in ("paragraph_open", "paragraph_close", "inline", "text", "code_inline"), (token, markdown)
        if token.type == "code_inline":
            assert len(token.content) <= LONGEST_SHOWN
            assert token.content.isprintable()
        elif token.type == "text":
            assert not [sign for sign in ("://", "www.", "$", ":red", ":smile") if sign in token.content], markdown


@pytest.mark.parametrize("given", HOSTILE)
def test_what_was_given_cannot_leave_its_code_and_is_one_short_line_in_a_terminal(given: str) -> None:
    for said in (
        as_code(given),
        in_markdown(Problem(given, given, "a whole number")),
        in_markdown(ConfigError([Problem("steps", given, "x"), Problem(given, "5", "y")])),
        in_markdown(ValueError(f"Your token {quoted(given)} is not known; allowed are {quoted(given)}.")),
    ):
        assert_harmless(said)
        assert "\n" not in said
        assert "code_inline" in [token.type for token in tokens(said)]
    line = str(Problem("steps", given, "a number"))
    assert line.isprintable()
    assert len(line) <= LONGEST_SHOWN + len("steps is ; allowed is a number.")


def test_what_can_be_shown_is_shown_as_it_is() -> None:
    for given in ("99", "a_b*c*", "../../etc/passwd", "`x`", "a``b", "x" * LONGEST_SHOWN):
        assert [token.content for token in tokens(as_code(given)) if token.type == "code_inline"] == [given]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("first", [0, 7])
def test_no_link_writes_onto_a_page(open_page: Open, page: str, first: int) -> None:
    values = [*HOSTILE[first:], *HOSTILE[:first]]
    query = {name: values[place % len(values)] for place, name in enumerate(PAGES[page])}
    app = open_page(page, **query, **{given: given for given in HOSTILE if given.strip()})
    said = [box.value for kind in ("warning", "error", "info", "toast") for box in app.get(kind)]
    ignored = [sentence for sentence in said if sentence.startswith("From the link")]
    assert len(ignored) >= (1 if page == "glossary.py" else len(HOSTILE) - 1)
    if page == "glossary.py":  # what is searched for is repeated
        app.text_input[0].set_value("https://evil.example [a](https://evil.example)").run()
        said.append(app.info[0].value)
    for sentence in said:
        assert_harmless(sentence)
        assert len(sentence) < 4000
