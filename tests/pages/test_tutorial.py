"""The tutorial by its widgets and words, as somebody alone goes through it: its steps, a run, what the run says, and links of the page that
it once was."""

from streamlit.testing.v1 import AppTest

from engine.experiments.lessons import LESSONS, TUTORIAL, Guide
from pages.parts.app.in_markdown import escaped
from tests.pages.looking import Open, ended, guess, labels, noted, press, question, run_of, said, trained

STEPS = LESSONS[TUTORIAL].steps
GUIDES = [step.guide for step in STEPS if isinstance(step.guide, Guide)]
FIRST_GUESS = "Guess first"


def at_step(open_page: Open, number: int, **link: str) -> AppTest:
    """The page to which the earlier address leads. The test session would else ask for that address again with each run."""
    app = open_page("story.py", step=str(number), **link)
    assert not app.warning
    return open_page("lab.py", **app.query_params)


def test_the_earlier_address_opens_each_step_from_which_the_lesson_leads_on_to_its_end(open_page: Open) -> None:
    for number, guide in enumerate(GUIDES, 1):
        app = at_step(open_page, number)
        assert app.title[0].value == guide.title
        assert f"{LESSONS[TUTORIAL].title} · step {number} of {len(GUIDES)}" in said(app)
        assert f"**{escaped(guide.asks)}**" in said(app)
        assert question(app).options == [escaped(answer) for answer in guide.answers]
        assert question(app).value is None
        assert guide.leads_to not in said(app)
        assert "run" not in app.query_params, "a link never starts a run"
        assert (app.query_params["lesson"], app.query_params["at"]) == (TUTORIAL, str(number))
        if number < len(GUIDES):
            assert press(app, "Next step").title[0].value == GUIDES[number].title
            assert press(app, "Step back").title[0].value == guide.title
    assert "Next step" not in labels(app)
    assert "Experiments with eight seeds" in [link.proto.label for link in press(app, "Finish").get("page_link")]
    assert app.title[0].value == GUIDES[-1].title
    press(app, "Leave")
    assert app.title[0].value == "Lab"
    assert app.session_state["form"] == STEPS[-1].config.flat(), "the lab has the settings of the last step"


def test_a_run_is_compared_with_the_guess_and_each_value_has_its_own(open_page: Open) -> None:
    app = at_step(open_page, 1)
    guide = GUIDES[0]
    trained(app)
    assert FIRST_GUESS in said(app)
    assert guide.leads_to not in said(app)
    guess(app, "Yes, always")
    assert ":green[:material/check:] You said: *Yes, always*. **Right.** The figure has" in said(app)
    assert guide.teaches[2] in said(app)
    assert guide.leads_to in said(app)
    assert question(app).proto.disabled
    (note,) = noted(app).values()
    assert (note.guessed, note.question) == ("Yes, always", guide.asks)
    assert note.found.startswith("Yes, always. The figure has")
    assert "Depth 1, seed 0" in note.ran
    first = run_of(app)
    assert first.config == STEPS[0].config

    app.segmented_control(key="set.n_layers").set_value(2).run()
    assert (question(app).value, question(app).proto.disabled) == (None, False)
    assert "run" not in app.query_params
    trained(guess(app, "Sometimes"))
    assert "You said: *Sometimes*. Measured: **Yes, always**." in said(app)
    assert run_of(app).config == first.config.replace(n_layers=2)
    again = press(app, "New seed")
    assert run_of(again).wait_for(10**9, 600)
    assert run_of(again.run()).config == first.config.replace(n_layers=2, seed=1)
    assert "You said: *Sometimes*." in said(again)
    press(again, "Next step")
    assert "run" not in again.query_params
    assert question(press(again, "Step back")).value == 1, "the guess is as it was left"
    assert "You said: *Yes, always*." in said(again)


def test_a_run_of_the_step_before_with_the_same_settings_is_no_answer(open_page: Open) -> None:
    assert STEPS[1].config == STEPS[2].config
    app = trained(guess(at_step(open_page, 2), escaped(GUIDES[1].answers[2])))
    assert GUIDES[1].leads_to in said(app)
    press(app, "Next step")
    assert "run" not in app.query_params
    guess(app, GUIDES[2].answers[2])
    assert "You said" not in said(app)


def test_an_earlier_link_to_a_run_brings_its_choice_and_its_seed(open_page: Open) -> None:
    run = ended(STEPS[1].config.replace(pos_encoding="nope", seed=4))
    for link in ({}, {"choice": "nope", "seed": "4", "guess": "nearly all"}):
        app = at_step(open_page, 2, run=run.id, **link)
        assert app.title[0].value == GUIDES[1].title
        assert app.query_params["run"] == run.id
        assert app.segmented_control(key="set.pos_encoding").value == "nope"
        assert FIRST_GUESS in said(app)
    gone = open_page("story.py", step="2", run="gone", choice="sinusoidal")
    assert "run is `gone`; no run of that name is kept here." in said(gone)
    assert gone.segmented_control(key="set.pos_encoding").value == "sinusoidal"


def test_what_is_wrong_in_an_earlier_link_is_named_or_passed_over(open_page: Open) -> None:
    other = ended(STEPS[0].config.replace(steps=3))
    app = open_page("story.py", step="7", seed="-1", choice="fire", guess="zork", zork="1", run=other.id)
    assert "`at` is `7`; allowed is a step of the lesson, 1 to 6." in said(app)
    assert "`seed` is `-1`; allowed is a whole number from 0" in said(app)
    assert app.title[0].value == GUIDES[0].title
    assert "run" not in app.query_params


def test_a_step_with_other_settings_than_its_own_is_the_lab(open_page: Open) -> None:
    app = open_page("lab.py", v="1", n_layers="3", lesson=TUTORIAL, at="1")
    assert app.title[0].value == "Lab"
    assert f"{LESSONS[TUTORIAL].title} · step 1 of {len(STEPS)}" in said(app)
