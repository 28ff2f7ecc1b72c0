from urllib.parse import parse_qsl, urlsplit

from streamlit.testing.v1 import AppTest

from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import LESSONS, Lesson, LessonStep, from_code, lab_step, to_code
from pages.parts.app.in_markdown import escaped
from pages.parts.experiments.handouts import TOO_LONG, qr_code
from pages.parts.experiments.presenting import PHASES, Presenting, link_of
from pages.parts.teach import TEXT
from tests.pages.looking import Open, guess, labels, page_text, press, question, trained


def form_of(app: AppTest) -> dict[str, object]:
    """The values of the lab's form that differ from the defaults."""
    usual = RunConfig().flat()
    return {name: value for name, value in app.session_state["form"].items() if value != usual.get(name, value)}


def test_the_page_has_all_lessons_the_shortest_first_and_each_can_be_printed(open_page: Open) -> None:
    app = open_page("teach.py")
    words = page_text(app)
    for lesson in LESSONS.values():
        assert f"**{lesson.title}** · {lesson.minutes} minutes · {len(lesson.steps)} steps" in words
        assert lesson.goal in words
        assert all(step.title in words for step in lesson.steps)
    shortest = min(LESSONS.values(), key=lambda lesson: lesson.minutes)
    assert app.markdown[1].value.startswith(f"**{shortest.title}** · 10 minutes")
    files = ["Teacher’s sheet", "Handout, to print"]
    assert [file.label for file in app.get("download_button")] == files * len(LESSONS)
    assert "Your report" not in words


def test_a_lesson_of_ones_own_is_made_reordered_and_stands_in_the_address(open_page: Open) -> None:
    app = open_page("teach.py")
    add = next(button for button in app.button if button.label == "Add")
    assert (add.disabled, add.help) == (True, "Choose one first.")
    app.selectbox(key="teach.add.0").set_value(ISSUES["heads"].title).run()
    press(app, "Add")
    assert app.selectbox(key="teach.add.1").value is None, "ready for the next one"
    app.selectbox(key="teach.add.1").set_value(ISSUES["missing-mask"].title).run()
    press(app, "Add")
    assert app.query_params["steps"] == "heads.6~~missing-mask.7", "each has the minutes of its issue"
    press(app, "Earlier: step 2")
    assert app.query_params["steps"] == "missing-mask.7~~heads.6"
    next(box for box in app.number_input if box.label == "Minutes of step 1").set_value(9).run()
    assert app.query_params["steps"] == "missing-mask.9~~heads.6"
    assert "**Your lesson** · 15 minutes · 2 steps" in page_text(app)
    press(app, "Remove: step 2")
    assert app.query_params["steps"] == "missing-mask.9"
    press(app, "Remove: step 1")
    assert "steps" not in app.query_params


def test_a_lesson_of_ones_own_has_a_title_and_slides_of_text_which_are_shown_as_they_are(open_page: Open) -> None:
    app = open_page("teach.py", steps="heads.7")
    next(box for box in app.text_input if box.label == "Title").set_value("What ~ breaks").run()
    app.segmented_control(key="teach.kind").set_value(TEXT).run()
    app.text_input(key="teach.slide.1").set_value("# Hello [x](https://x.example)").run()
    app.text_area(key="teach.text.1").set_value("First: **guess**.\n\nThen run. :red[x]").run()
    press(app, "Add")
    link = app.query_params["steps"]
    assert (
        link
        == "title~What - breaks~~heads.7~~text~# Hello [x](https://x.example)~First: **guess**.\n\nThen run. :red[x].2"
    )
    assert "**What - breaks** · 9 minutes · 2 steps" in page_text(app)
    again = open_page("teach.py", steps=link)
    assert not again.warning
    assert [box.value for box in again.text_input if box.label == "Title"] == ["What - breaks"]

    app = press(open_page("questions.py", issue="heads", lesson=link, at="1"), "Next step")
    assert app.title[0].value == escaped("# Hello [x](https://x.example)")
    assert [box.value for box in app.text] == ["First: **guess**.\n\nThen run. :red[x]"]
    assert press(app, "Step back").title[0].value == ISSUES["heads"].title
    assert "A slide appears here during a lesson that has one." in page_text(open_page("slide.py"))


def test_a_step_of_ones_own_lesson_asks_ones_own_question(open_page: Open) -> None:
    app = open_page("teach.py", steps="heads.7")
    app.segmented_control(key="teach.kind").set_value(":material/science: Lab").run()
    app.selectbox(key="teach.add.1").set_value(next(iter(PRESETS.values())).title).run()
    app.text_input(key="teach.question.1").set_value("Is one layer enough?").run()
    add = next(button for button in app.button if button.label == "Add")
    assert (add.disabled, add.help) == (True, "A question needs three different answers.")
    for number, words in enumerate(("No", "Nearly", "Yes"), start=1):
        app.text_input(key=f"teach.answer.{number}.1").set_value(words)
    press(app.run(), "Add")
    assert app.query_params["steps"].endswith("~ask~Is one layer enough?~No~Nearly~Yes~learned.5")
    assert "Is one layer enough?" in page_text(app)

    app.segmented_control(key="teach.kind").set_value(TEXT).run()
    app.text_input(key="teach.slide.2").set_value("Before").run()
    app.text_input(key="teach.question.2").set_value("Who is right?")
    for number, words in enumerate(("Ann", "Bob", "Cy"), start=1):
        app.text_input(key=f"teach.answer.{number}.2").set_value(words)
    app.selectbox(key="teach.decides.2").set_value("Answer 2")
    press(app.run(), "Add")
    assert app.query_params["steps"].endswith("~~text~Before~ask~Who is right?~Ann~Bob~Cy~0.2")


def test_who_goes_alone_guesses_at_a_slide_and_in_the_lab_before_the_answer_is_told(open_page: Open) -> None:
    lab, slide = "lab~steps~10~ask~Ten *steps*?~Too few~Half~Enough~learned.5", "text~Now~ask~Who?~Ann~Bob~Cy~0.2"
    app = open_page("slide.py", lesson=f"{slide}~~{lab}", at="1")
    assert app.header[0].value == "Who?"
    assert "Bob" not in page_text(app), "not before the guess"
    assert "You said: *Ann*. The teacher says: **Bob**." in guess(app, "Ann").subheader[0].value
    assert question(app).proto.disabled

    app = open_page("lab.py", steps="10", lesson=f"{slide}~~{lab}", at="2")
    assert "**Ten \\*steps\\*?**" in page_text(app)
    guess(app, "Enough")
    assert "You said" not in page_text(app)
    trained(app)
    assert "You said: *Enough*. Measured: **Too few**." in page_text(app)
    assert page_text(app).count("Not learned in 10 steps") == 1


def test_a_lesson_whose_link_is_too_long_for_a_qr_code_can_be_made_presented_and_gone_through(open_page: Open) -> None:
    settings = {
        "n_layers": 3,
        "n_heads": 2,
        "d_model": 48,
        "seed": 12,
        "steps": 290,
        "batch_size": 24,
        "pos_encoding": "rope",
    }
    step = lab_step(7, RunConfig().replace(**settings, optimizer="sgd", weight_decay=0.02, dropout=0.05))
    code = to_code(Lesson("", (step,) * 30))
    assert qr_code(code) == ""
    for page in ("lab.py", "questions.py"):
        for present in ({}, {"present": "true"}):  # the page raises no exception, or open_page fails
            open_page(page, lesson=code, at="1", **present)
    assert TOO_LONG in page_text(open_page("teach.py", steps=code))


def test_a_link_opens_its_first_step_and_the_lesson_goes_along(open_page: Open) -> None:
    lesson = Lesson("Mine", (LessonStep(5, "heads"), LessonStep(5, "missing-mask")))
    link = urlsplit(link_of(lesson, "https://lab.example/"))
    assert link.path == "/questions"
    app = open_page("questions.py", **dict(parse_qsl(link.query)))
    assert app.title[0].value == ISSUES["heads"].title
    assert "Mine · step 1 of 2" in page_text(app)
    press(app, "Next step")
    assert app.title[0].value == ISSUES["missing-mask"].title
    assert (app.query_params["lesson"], app.query_params["at"]) == ("title~Mine~~heads.5~~missing-mask.5", "2")
    press(app, "Step back")
    assert app.title[0].value == ISSUES["heads"].title
    press(app, "Leave")
    assert app.title[0].value == ISSUES["heads"].title
    assert "lesson" not in app.query_params

    labs = "heads.5~~lab~pos_encoding~rope.5~~lab.5~~lab~pos_encoding~alibi.5"
    app = press(open_page("questions.py", issue="heads", lesson=labs, at="1"), "Next step")
    assert form_of(app) == {"pos_encoding": "rope"}, "it leads into the lab with its settings"
    assert "step 2 of 4" in page_text(app)
    assert form_of(press(app, "Next step")) == {}, "and no step has those of the step before"
    assert form_of(press(app, "Next step")) == {"pos_encoding": "alibi"}
    assert form_of(press(app, "Step back")) == {}
    press(app, "Step back")
    assert press(app, "Step back").title[0].value == ISSUES["heads"].title


def test_a_presented_issue_shows_its_question_alone_starts_nothing_and_each_beat_adds_to_it(open_page: Open) -> None:
    app = open_page("questions.py", issue="missing-mask", lesson="what-can-go-wrong", at="1", present="true")
    assert ISSUES["missing-mask"].key_figure.question in page_text(app)
    assert "Run" not in labels(app)
    assert not any(box.label == "Your guess" for box in app.get("button_group"))
    now = Presenting(LESSONS["depth"])
    shown = [sum(Presenting(now.lesson, phase=phase).shows(part) for part in PHASES) for phase in range(len(PHASES))]
    assert shown == [1, 2, 3, 4, 5, 6]
    assert all(Presenting(now.lesson, on=False).shows(part) for part in PHASES)
    lab = Presenting(from_code("lab.5"), phase=2)
    assert not Presenting(lab.lesson, phase=1).shows("run"), "first the guess"
    assert (lab.shows("run"), lab.shows("picture")) == (True, False)
