"""The story by its widgets and words: steps, links, a run, its feedback, and the lab's run, which stays what it was."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from engine.config.link import from_query
from engine.config.run_config import RunConfig
from engine.experiments.story import STEPS
from engine.experiments.story.step import Observed, Question
from engine.runs.request import RunRequest
from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.story.screen import feedback
from tests.pages.looking import Open, disabled, labels, press, said

NUMBERS = range(1, len(STEPS) + 1)


def shown(app: AppTest) -> Run:
    run = server.find(app.query_params["run"])
    assert run is not None
    return run


def trained(app: AppTest) -> AppTest:
    """Press Train, wait for the end, and show it."""
    run = shown(press(app, "Train"))
    assert run.wait_for(10**9, 600)
    app.run()
    assert not app.exception, app.exception
    return app


@pytest.mark.parametrize("number", NUMBERS)
def test_each_step_opens_by_its_link_with_its_question_and_one_control(open_page: Open, number: int) -> None:
    step = STEPS[number - 1]
    app = open_page("story.py", step=str(number))
    assert app.title[0].value == step.title
    assert f"step {number} of {len(STEPS)}" in said(app)
    assert app.radio[0].label == step.question.text
    assert list(app.radio[0].options) == list(step.question.answers.values())
    assert app.radio[0].value is None
    assert "Train" in labels(app)
    assert step.leads_to not in said(app)
    assert "run" not in app.query_params, "a link never starts a run"


def test_back_and_next_lead_through_all_steps_and_the_last_one_into_the_lab(open_page: Open) -> None:
    app = open_page("story.py")
    assert disabled(app, "Back")
    for step in STEPS[1:]:
        press(app, "Next")
        assert app.title[0].value == step.title
    assert app.query_params["step"] == str(len(STEPS))
    assert "Next" not in labels(app)
    press(app, "Back")
    assert app.title[0].value == STEPS[-2].title
    press(press(app, "Next"), "Open the lab with these settings")
    assert app.title[0].value == "Lab"
    config, _ = from_query(dict(app.query_params))
    assert config == STEPS[-1].config(STEPS[-1].first)


def test_a_run_is_compared_with_the_guess_that_was_made_before_it(open_page: Open) -> None:
    app = open_page("lab.py")
    app.session_state["run"] = "the lab's own"
    app.switch_page("story.py").run()
    app.radio[0].set_value("always").run()
    trained(app)
    assert ":green[:material/check:] You said: *Yes, always*. **Right.**" in said(app)
    assert STEPS[0].leads_to in said(app)
    assert app.session_state["run"] == "the lab's own"

    app.radio[0].set_value("not always").run()
    assert "You said: *Yes, always*. **Right.**" in said(app), "the guess of that run was made before it"
    first = shown(app)
    assert press(app, "Another seed").query_params["seed"] == "1"
    assert shown(app).config == first.config.replace(seed=1)


def test_a_run_in_a_link_brings_its_choice_and_its_seed(open_page: Open) -> None:
    step = STEPS[1]
    config = step.config("nope", seed=4)
    run = server.pool().submit(RunRequest(config))
    assert run.wait_for(10**9, 600)
    app = open_page("story.py", step="2", run=run.id)
    assert not app.warning
    assert dict(app.query_params) == {"step": "2", "choice": "nope", "seed": "4", "run": run.id}
    assert "The run says: **" in said(app)
    press(press(app, "Next"), "Back")
    assert dict(app.query_params) == {"step": "2", "choice": "nope", "seed": "4", "run": run.id}, "as it was left"


def test_a_guess_is_there_after_a_reload_and_tries_of_one_step_stand_side_by_side(open_page: Open) -> None:
    step = STEPS[0]
    app = open_page("story.py")
    app.radio[0].set_value("not always").run()
    assert app.query_params["guess"] == "not always"
    again = open_page("story.py", **app.query_params)
    assert not again.warning
    assert again.radio[0].value == "not always"
    trained(again)
    assert f"{step.row.label}, right answers:" not in said(again)
    again.radio[0].set_value("always").run()
    address = dict(again.query_params)
    assert (address["guess"], address["guessed"]) == ("always", "not always")
    later = open_page("story.py", **address)
    assert later.radio[0].value == "always"
    assert "You said: *No, not always*." in said(later), "the guess of that run was made before it"
    address["choice"] = "1"
    assert dict(later.query_params) == address
    assert "guess" not in press(later, "Next").query_params, "each step has its own"
    assert dict(press(later, "Back").query_params) == address

    again.get("button_group")[0].set_value("2").run()
    assert again.query_params["choice"] == "2"
    assert f"Shown is the run with {step.row.label} 1." in said(again)
    trained(again)
    assert "Shown is the run" not in said(again)
    assert shown(again).config == step.config(2)
    assert f"{step.row.label}, right answers: 1 " in said(again)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"step": "7"}, "`step` is `7`; allowed is a whole number from 1 to 6"),
        ({"step": "2", "choice": "fire"}, "`choice` is `fire`; allowed is one of nope, learned, sinusoidal"),
        ({"seed": "-1"}, "`seed` is `-1`"),
        ({"run": "../../etc"}, "`run` is `../../etc`; allowed is a run of step 1 that is kept here"),
        ({"guess": "zork"}, "`guess` is `zork`; allowed is one of always, not always"),
        ({"step": "4", "guessed": "always"}, "`guessed` is `always`; allowed is one of mirrored, one distance, spread"),
        ({"zork": "1"}, "`zork` is `1`"),
    ],
)
def test_what_in_a_link_fits_no_step_is_named(open_page: Open, query: dict[str, str], sentence: str) -> None:
    app = open_page("story.py", **query)
    assert sentence in said(app)
    assert "Train" in labels(app)


def test_a_run_of_another_kind_is_no_run_of_a_step(open_page: Open) -> None:
    run = server.pool().submit(RunRequest(RunConfig(steps=3)))
    assert run.wait_for(10**9, 600)
    assert f"`run` is `{run.id}`; allowed is a run of step 1" in said(open_page("story.py", run=run.id))


@pytest.mark.parametrize(
    "question", {step.question.text: step.question for step in STEPS}.values(), ids=lambda one: one.text
)
def test_feedback_says_whether_the_guess_was_right(question: Question) -> None:
    for name, words in question.answers.items():
        for guessed in (None, *question.answers):
            text = feedback(question, guessed, Observed(name, "The numbers."))
            assert text.endswith("The numbers.")
            assert words in text
            assert ("**Right.**" in text) == (guessed == name)
