from streamlit.testing.v1 import AppTest

from engine.experiments.lessons import LESSONS, TUTORIAL, Guide
from pages.parts.app.in_markdown import escaped
from pages.parts.experiments.presenting import way_into
from tests.pages.looking import Open, guess, labels, page_text, press, question, run_of, trained

STEPS = LESSONS[TUTORIAL].steps
GUIDES = [step.guide for step in STEPS if isinstance(step.guide, Guide)]


def at_step(open_page: Open, number: int) -> AppTest:
    page, link = way_into(LESSONS[TUTORIAL], number - 1)
    return open_page(page, **link)


def test_the_lesson_leads_from_step_to_step_and_a_guess_stays_with_its_run_and_value(open_page: Open) -> None:
    app = at_step(open_page, 1)
    assert app.title[0].value == GUIDES[0].title
    assert f"{LESSONS[TUTORIAL].title} · step 1 of {len(GUIDES)}" in page_text(app)
    trained(guess(app, "Yes, always"))
    first = run_of(app)
    assert first.config == STEPS[0].config
    assert GUIDES[0].leads_to in page_text(app)
    app.segmented_control(key="set.n_layers").set_value(2).run()
    assert (question(app).value, question(app).proto.disabled) == (None, False)
    assert "run" not in app.query_params
    again = press(app, "New seed")
    assert run_of(again).wait_for(10**9, 600)
    assert run_of(again.run()).config == first.config.replace(n_layers=2, seed=1)
    press(again, "Next step")
    assert again.title[0].value == GUIDES[1].title
    assert "run" not in again.query_params
    assert question(press(again, "Step back")).value == 1, "the guess is as it was left"
    assert "You said: *Yes, always*." in page_text(again)


def test_the_last_step_ends_the_lesson_and_the_lab_keeps_its_settings(open_page: Open) -> None:
    app = at_step(open_page, len(GUIDES))
    assert "Next step" not in labels(app)
    assert "More questions" in [link.proto.label for link in press(app, "Finish").get("page_link")]
    assert app.title[0].value == GUIDES[-1].title
    press(app, "Leave")
    assert app.title[0].value == "Lab"
    assert app.session_state["form"] == STEPS[-1].config.flat()


def test_a_run_of_the_step_before_with_the_same_settings_is_no_answer(open_page: Open) -> None:
    assert STEPS[1].config == STEPS[2].config
    app = trained(guess(at_step(open_page, 2), escaped(GUIDES[1].answers[2])))
    assert GUIDES[1].leads_to in page_text(app)
    press(app, "Next step")
    assert "run" not in app.query_params
    guess(app, GUIDES[2].answers[2])
    assert "You said" not in page_text(app)


def test_a_step_with_other_settings_than_its_own_is_the_lab(open_page: Open) -> None:
    app = open_page("lab.py", v="1", n_layers="3", lesson=TUTORIAL, at="1")
    assert app.title[0].value == "Lab"
    assert f"{LESSONS[TUTORIAL].title} · step 1 of {len(STEPS)}" in page_text(app)
