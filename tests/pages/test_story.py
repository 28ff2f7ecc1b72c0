"""The story by its widgets and words: steps, links, a run, its feedback, and the lab's run, which stays what it was."""

from urllib.parse import parse_qsl

from engine.config.link import from_query
from engine.experiments.story import STEPS
from pages.parts.app.in_markdown import escaped
from tests.pages.looking import Open, disabled, ended, guess, labels, noted, press, question, run_of, said, trained


def test_each_step_opens_by_its_link_and_back_and_next_lead_through_all_steps_into_the_lab(open_page: Open) -> None:
    for number, step in enumerate(STEPS, 1):
        app = open_page("story.py", step=str(number))
        assert app.title[0].value == step.title
        assert f"step {number} of {len(STEPS)}" in said(app)
        assert f"**{step.question.words}**" in said(app)
        assert question(app).options == [escaped(answer) for answer in step.answers]
        assert question(app).value is None
        assert "Train" in labels(app)
        assert step.leads_to not in said(app)
        assert "run" not in app.query_params, "a link never starts a run"
        assert disabled(app, "Back") == (number == 1)
        if number < len(STEPS):
            assert press(app, "Next").title[0].value == STEPS[number].title
            assert app.query_params["step"] == str(number + 1)
            assert press(app, "Back").title[0].value == step.title
    assert "Next" not in labels(app)
    press(app, "What you learned")
    assert said(app).count("not tried yet.") == len(STEPS)
    link = next(link.proto for link in app.get("page_link") if link.proto.label.startswith("Open the lab"))
    config, _ = from_query(dict(parse_qsl(link.query_string)))
    assert config == STEPS[-1].config(STEPS[-1].first)


def test_a_run_is_compared_with_the_guess_that_was_made_before_it(open_page: Open) -> None:
    app = open_page("lab.py")
    app.session_state["run"] = "the lab's own"
    app.switch_page("story.py").run()
    guess(app, "Yes, always")
    trained(app)
    assert ":green[:material/check:] You said: *Yes, always*. **Right.**" in said(app)
    assert STEPS[0].leads_to in said(app)
    (note,) = noted(app).values()
    assert (note.guessed, note.question) == ("Yes, always", STEPS[0].question.words)
    assert note.found.startswith("Yes, always. The figure has")
    assert "Depth 1, seed 0" in note.ran
    assert app.session_state["run"] == "the lab's own"

    guess(app, "Sometimes")
    assert "You said: *Yes, always*. **Right.**" in said(app), "the guess of that run was made before it"
    first = run_of(app)
    assert press(app, "Another seed").query_params["seed"] == "1"
    assert run_of(app).config == first.config.replace(seed=1)


def test_a_run_in_a_link_brings_its_choice_and_its_seed(open_page: Open) -> None:
    step = STEPS[1]
    run = ended(step.config("nope", seed=4))
    app = open_page("story.py", step="2", run=run.id)
    assert not app.warning
    assert dict(app.query_params) == {"step": "2", "choice": "nope", "seed": "4", "run": run.id}
    assert "**More, but not nearly all.**" in said(app)
    press(press(app, "Next"), "Back")
    assert dict(app.query_params) == {"step": "2", "choice": "nope", "seed": "4", "run": run.id}, "as it was left"


def test_a_guess_is_there_after_a_reload_and_tries_of_one_step_stand_side_by_side(open_page: Open) -> None:
    step = STEPS[0]
    app = open_page("story.py")
    guess(app, "Sometimes")
    assert app.query_params["guess"] == "0"
    again = open_page("story.py", **app.query_params)
    assert not again.warning
    assert question(again).value == 0
    trained(again)
    assert f"{step.row.label}, right answers:" not in said(again)
    guess(again, "Yes, always")
    address = dict(again.query_params)
    assert (address["guess"], address["guessed"]) == ("1", "0")
    later = open_page("story.py", **address)
    assert question(later).value == 1
    assert "You said: *Sometimes*." in said(later), "the guess of that run was made before it"
    address["choice"] = "1"
    assert dict(later.query_params) == address
    assert "guess" not in press(later, "Next").query_params, "each step has its own"
    assert dict(press(later, "Back").query_params) == address

    again.button_group(key="story.set.choice").set_value("2").run()
    assert again.query_params["choice"] == "2"
    assert f"Shown is the run with {step.row.label} 1." in said(again)
    trained(again)
    assert "Shown is the run" not in said(again)
    assert run_of(again).config == step.config(2)
    assert f"{step.row.label}, right answers: 1 " in said(again)


def test_a_link_of_an_earlier_version_names_its_answer_in_words(open_page: Open) -> None:
    app = open_page("story.py", step="2", guess="nearly all")
    assert not app.warning
    assert question(app).value == 1
