"""A link that is wrong costs what is wrong only, which is named with what is allowed; and what a reader gives is shown as inline code: no
link writes a headline, a way out or a wall of text onto a page."""

from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from engine.config.run_config import RunConfig
from engine.settings.errors import LONGEST_SHOWN, ConfigError, Problem, quoted
from pages.parts.app.in_markdown import as_code, in_markdown
from tests.pages.looking import Open, ended, said

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
NO_NAME, NO_NUMBER = ("1", "a name this page knows"), ("99", "a whole number from 1 to ")
WRONG: list[tuple[str, dict[str, str], dict[str, tuple[str, str]]]] = [
    ("lab.py", {"steps": "50"}, {
        "n_layers": NO_NUMBER, "zork": ("1", "no setting of that name"), "preset": ("zork", "one of reverse, three-back"),
    }),
    ("issues.py", {"issue": "missing-mask", "first_seed": "100"}, {
        "seeds": ("99", "a whole number from 1 to 16"), "extended": ("yes", "true or false"), "zork": NO_NAME,
        "experiment": ("x", "a run that this server still holds"),
    }),
    ("issues.py", {}, {"issue": ("zork", "one of ")}),
    ("issues.py", {"issue": "heads", "lesson": "depth"}, {"at": ("9", "a step of the lesson, 1 to 6")}),
    ("issues.py", {"issue": "heads"}, {"lesson": ("zork", "a step, a full stop and 1 to 90 minutes")}),
    ("attention.py", {"sample": "3"}, {
        "view": ("zork", "one of steps, heads"), "layer": ("99", "a whole number from 1 to 48"), "q": NO_NAME,
        "faults": ("mask_missing,x", "some of mask_missing"), "run": ("nobody", "the id of a run that is kept here"),
        "off": ("self.1", "heads as self.1.2"), "temperature": ("0.55", "one of 0.1"), "query": ("-1", "a whole number from 0"),
    }),
    ("encodings.py", {"b": "alibi", "b.alibi_slope_scale": "2.0"}, {
        "a": ("zork", "one of nope"), "reach": ("9", "a whole number from 1 to 4"), "run": ("../etc", "recorded, or the name of a run"),
        "layer": ("49", "a whole number from 0 to 48"), "needs": ("text,fame", "some of offsets"), "zork": NO_NAME,
    }),
    ("text.py", {"steps": "70"}, {
        "text": ("0" * 32, "shakespeare, or the name of a text of your own that is kept here"), "vocab_size": ("1", "a whole number"),
        "pos_encoding": ("zork", "one of nope"), "d_model": ("8", "one of text"), "run": ("../x", "the name of a run that is kept here"),
    }),
    ("design.py", {"design_features": "convolution", "design_base": "100.0"}, {
        "against": ("designed", "1 to 5 different ones"), "tasks": ("sort", "1 to 3 different ones"), "seeds": NO_NUMBER,
        "design_width": ("9999", "a whole number from 1 to 256"), "experiment": ("nowhere", "one that goes here"), "zork": NO_NAME,
    }),
    ("memory_and_time.py", {"d_model": "48"}, {
        "longest": ("7", "a whole number from 128"), "memory": ("-1", "a number from"), "models": ("gpt9", "some of gpt2-124m"),
        "sweep": ("../../etc/passwd", "a measurement that is kept here"), "zork": NO_NAME,
    }),
    ("notebook.py", {"notebook": "mean-pooling"}, {
        "play": ("x", "one of this notebook that this server still holds"), "colour": NO_NAME,
    }),
    ("notebooks.py", {}, {"notebook": ("zork", "one of mean-pooling, ")}),
    ("lessons.py", {}, {"steps": ("zork", "a step, a full stop and 1 to 90 minutes")}),
    ("story.py", {"step": "2"}, {
        "choice": ("fire", "one of nope, learned, sinusoidal"), "seed": ("-1", "a whole number from 0"), "zork": NO_NAME,
        "run": ("../../etc", "a run of step 2 that is kept here"), "guess": ("zork", "one of chance"), "guessed": ("x", "one of chance"),
    }),
    ("story.py", {}, {"step": ("7", "a whole number from 1 to 6")}),
]  # fmt: skip
"""Pages with a part of a link that is right, and with others that are wrong: each with its text and what is allowed there."""
PAGES = [*dict.fromkeys(page for page, *_ in WRONG), "glossary.py"]
MORE = (
    "run", "preset", "task", "pos_encoding", "n_layers", "dropout", "test_lengths", "v", "text", "hide", "lock", "first_seed", "view",
    "which", "kinds", "device", "needs", "likeness", "term",
)  # fmt: skip
"""More names that stand in links."""


@pytest.mark.parametrize(("page", "right", "wrong"), WRONG)
def test_each_part_of_a_link_that_is_wrong_is_named_with_what_is_allowed_and_no_other_is_lost(
    open_page: Open, page: str, right: dict[str, str], wrong: dict[str, tuple[str, str]]
) -> None:
    app = open_page(page, **right | {name: text for name, (text, _) in wrong.items()})
    for name, (text, allowed) in wrong.items():
        assert f"`{name}` is `{text}`; allowed is {allowed}" in said(app)
        assert app.query_params.get(name) != text
    assert right.items() <= dict(app.query_params).items()


def test_a_run_that_is_not_kept_or_of_another_kind_is_none_of_the_page(open_page: Open) -> None:
    lab = open_page("lab.py", run="../../etc/passwd")
    assert "run is `../../etc/passwd`; no run of that name is kept here." in said(lab)
    assert "run" not in lab.session_state
    run = ended(RunConfig(steps=3))
    assert f"`run` is `{run.id}`; allowed is a run of step 1" in said(open_page("story.py", run=run.id))
    assert "a run of task shakespeare_words; this one is of reverse" in said(open_page("text.py", run=run.id))


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
    for shown in (
        as_code(given),
        in_markdown(Problem(given, given, "a whole number")),
        in_markdown(ConfigError([Problem("steps", given, "x"), Problem(given, "5", "y")])),
        in_markdown(ValueError(f"Your token {quoted(given)} is not known; allowed are {quoted(given)}.")),
    ):
        assert_harmless(shown)
        assert "\n" not in shown
        assert "code_inline" in [token.type for token in tokens(shown)]
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
    names = [name for at, right, wrong in WRONG if at == page for name in (*right, *wrong)]
    query = {name: values[place % len(values)] for place, name in enumerate([*names, *MORE])}
    app = open_page(page, **query, **{given: given for given in HOSTILE if given.strip()})
    shown = [box.value for kind in ("warning", "error", "info", "toast") for box in app.get(kind)]
    ignored = [sentence for sentence in shown if sentence.startswith("From the link")]
    assert len(ignored) >= (1 if page == "glossary.py" else len(HOSTILE) - 1)
    if page == "glossary.py":  # what is searched for is repeated
        app.text_input[0].set_value("https://evil.example [a](https://evil.example)").run()
        shown.append(app.info[0].value)
    for sentence in shown:
        assert_harmless(sentence)
        assert len(sentence) < 4000
