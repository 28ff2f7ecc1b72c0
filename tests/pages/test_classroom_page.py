"""A class by its widgets and words: phones go with the wall, guess, train seeds and are told who was right; none of them steers it."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from engine.experiments import classroom
from engine.experiments.class_seeds import class_experiment, class_seed, keep_seed, press_seed
from engine.experiments.classroom import (
    ProjectorState,
    Responses,
    enter,
    keep_guess,
    open_class,
    projector_of,
    responses,
    show_projector,
)
from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import LIVE_SEED
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import key_finding_of
from engine.experiments.question import Direction
from engine.experiments.report import report
from engine.experiments.trial import Trial
from engine.foundation.visitor import PROGRAM, Visitor
from pages.parts.app import server
from pages.parts.app.in_markdown import escaped
from pages.parts.app.visitor import COOKIE
from pages.parts.classroom import COUNTED, LOOK_UP, ON_PROJECTOR, WATCH
from pages.parts.experiments.presenter import WAITING
from pages.parts.experiments.presenting import CODE
from pages.parts.experiments.presenting import KEY as PRESENTING
from pages.parts.experiments.projector import bars
from pages.parts.experiments.running import EXPERIMENTS, RAN
from tests.engine.full_disk import full
from tests.engine.serving.test_pool import until
from tests.pages.looking import Open, guess, labels, noted, press, question, said, sent
from tests.pages.scripted_experiment import Scripted, ScriptedPool

TEACHER = Visitor("teacher")
ASKS = ProjectorState("scripted.5~~heads.5", phase="guess")
ANSWERS = ["It falls", "It stays", "It rises"]
QUESTION = "Change one thing: what happens to the accuracy?"


def class_of(wall: ProjectorState = ASKS) -> str:
    """The code of a class that somebody presents."""
    code = open_class(TEACHER)
    show_projector(code, TEACHER, wall)
    return code


def presented(open_page: Open, lesson: str = "scripted.5~~heads.5") -> AppTest:
    """The wall of a lesson that begins with the scripted issue, at its QR code."""
    wall = press(open_page("questions.py", issue="scripted", seeds="6", lesson=lesson, at="1"), "Present")
    return at(wall, CODE)


def code_of(wall: AppTest) -> str:
    code: str = wall.session_state[PRESENTING].classroom
    return code


def at(wall: AppTest, phase: str | int) -> AppTest:
    now = wall.session_state[PRESENTING]
    wall.session_state[PRESENTING] = replace(now, phase=now.phases.index(phase) if isinstance(phase, str) else phase)
    return wall.run()


def key(app: AppTest, *names: str) -> AppTest:
    """Press keys of the presenter."""
    app.session_state[WAITING] = list(names)
    return app.run()


def phone_in(open_page: Open, code: str) -> AppTest:
    return open_page("classroom.py", **{"class": code})


def sentence_of(wall: AppTest) -> str:
    """How many seeds the figure on the wall has, of how many phones, and how many it waits for."""
    (found,) = re.findall(
        r"(\d+ seeds? from \d+ phones?)(?:[^\w]{1,6}(?:u00b7|302.267)? (waiting for \d+))?", sent(wall)
    )
    return " · ".join(filter(None, found))


def drawn(app: AppTest) -> str:
    """The HTML of the page."""
    return " ".join(box.value for box in app.get("html"))


def asks_nothing(app: AppTest) -> bool:
    """Whether there is neither a choice of a guess nor a box for its size."""
    return not any(
        box.label == "Your guess" or "number?" in box.label for box in [*app.get("button_group"), *app.number_input]
    )


def test_a_key_that_guesses_and_the_next_one_that_runs_may_come_together(open_page: Open, scripted: Scripted) -> None:
    wall = key(at(presented(open_page), "question"), "3", "next")
    run = EXPERIMENTS.find(wall.session_state[RAN]["scripted"])
    assert run is not None
    assert run.wait(600)
    assert "You said: *It rises*. **Right.**" in said(at(wall, "sentence"))


def test_phones_go_with_the_wall_through_a_step_and_are_told_who_was_right(open_page: Open, scripted: Scripted) -> None:
    wall = presented(open_page)
    assert "0 phones are here." in sent(wall)
    participants = [phone_in(open_page, code_of(wall)) for _ in range(3)]
    assert "3 phones are here." in sent(wall.run())
    for phone in participants:
        assert phone.title[0].value == "You are in the class"
        assert not {"Run", "Present"} & set(labels(phone))
        assert asks_nothing(phone)
    assert ":material/groups: **0 of 3** have guessed · waiting for 3" in said(at(wall, "guess"))
    for phone, answer in zip(participants, ("It rises", "It falls"), strict=False):
        assert phone.run().title[0].value == escaped(QUESTION)
        assert question(phone).options == ANSWERS
        guess(phone, answer)
        assert COUNTED in said(phone)
    words = said(wall.run())
    assert "**2 of 3** have guessed · waiting for 1" in words
    assert "The class:" not in drawn(wall), "nobody is told what the others think"

    at(wall, "run")
    assert 'aria-label="The class: It falls 1, It stays 0, It rises 1"' in drawn(wall)
    assert f"Your guess: **It rises**. {LOOK_UP}" in said(participants[0].run())
    assert "Your guess" not in said(participants[2].run())
    assert asks_nothing(participants[0])
    run = EXPERIMENTS.find(wall.session_state[RAN]["scripted"])
    assert run is not None
    assert run.wait(600)
    at(wall, "figure")
    assert projector_of(code_of(wall)).sentence == "", "the wall has not said it yet"
    at(wall, "sentence")
    assert "1 of 2 right" in drawn(wall)
    assert "of 0 right" not in bars(("No", "In part", "Yes"), Responses(1, {}), (1,)), "nobody guessed"
    verdicts = ("You said: *It rises*. **Right.**", "You said: *It falls*. Measured: **It rises**.", "**It rises.**")
    for phone, verdict in zip(participants, verdicts, strict=True):
        assert verdict in said(phone.run())
        assert (sentence := projector_of(code_of(wall)).sentence).startswith("With a change the accuracy rises from")
        assert sentence in said(phone)
    at(wall, "guess")
    assert "The run has ended. Guessing is closed." in said(wall)
    assert "Run" not in labels(wall)
    assert "each seed will be a dot" not in sent(wall)
    assert "The class:" in drawn(wall)
    assert "1 of 2 right" not in drawn(wall)
    assert f"Your guess: **It rises**. {LOOK_UP}" in said(participants[0].run()), "it has seen the result"
    key(at(wall, "sentence"), "seeds")
    assert "0 seeds from 0 phones" in sent(wall)
    assert "1 of 2 right" in drawn(wall), "what was told stands until the seeds of the class decide"
    assert "0 of 3 have answered. Continue?" in drawn(key(wall, "next"))
    key(wall, "next")
    assert verdicts[0] in said(participants[0].run())
    key(wall, "next")
    assert participants[0].run().title[0].value != QUESTION
    assert "Step 2 of 2" in said(participants[0])
    wall.query_params["at"] = "1"  # of a press that came while the page changed
    wall.run()
    assert (wall.session_state[PRESENTING].at, projector_of(code_of(wall)).at) == (1, 1)
    key(wall, "leave")
    for phone, answer in zip(participants, ("It rises", "It falls", ""), strict=True):
        assert phone.run().title[0].value == "The lesson has ended"
        assert "Report (HTML)" in [file.label for file in phone.get("download_button")]
        assert "Explore on your own" in [link.proto.label for link in phone.get("page_link")]
        (note,) = noted(phone).values()
        assert (note.title, note.question, note.guessed) == ("Scripted, 4 arms", QUESTION, answer)
        assert (note.ran, note.found) == ("The class, on the projector.", sentence)


def test_each_phone_trains_a_seed_of_its_own_on_the_word_of_the_wall_and_it_falls_into_the_figure(
    open_page: Open, scripted: Scripted
) -> None:
    _, pool = scripted
    pool.at_once = False
    wall = at(presented(open_page), "run")
    own = EXPERIMENTS.find(wall.session_state[RAN]["scripted"])
    assert own is not None
    participants = [phone_in(open_page, code_of(wall)) for _ in range(2)]
    assert "Train one seed" not in labels(participants[0])
    key(wall, "seeds")
    assert own.wait(600)
    assert own.state == "stopped", "the cores are for the class"
    pool.at_once = True
    assert sentence_of(wall) == "0 seeds from 0 phones · waiting for 2"
    participants.append(phone_in(open_page, code_of(wall)))
    assert sentence_of(wall.run()) == "0 seeds from 0 phones · waiting for 3"
    for number, phone in enumerate(participants):
        press(phone.run(), "Train one seed")
        assert "Train one seed" not in labels(phone)
        until(lambda phone=phone: ON_PROJECTOR in said(phone.run()))
        seen = [
            "1 seed from 1 phone · waiting for 2",
            "2 seeds from 2 phones · waiting for 1",
            "3 seeds from 3 phones",
        ]
        assert sentence_of(wall.run()) == seen[number]
    before = len(pool.submitted)
    participants[0].run()
    assert len(pool.submitted) == before
    key(wall, "seeds")
    assert sentence_of(wall) == "3 seeds from 3 phones · waiting for 3"
    pool.at_once = False
    press(participants[0].run(), "Train one seed")
    until(lambda: len(pool.submitted) > before)
    pool.finish(pool.submitted[-1])
    until(lambda: 0 < participants[0].run().get("progress")[0].proto.value < 100)

    def has_its_dot() -> bool:
        for run in pool.submitted:
            if run.live:
                pool.finish(run)
        return ON_PROJECTOR in said(participants[0].run())

    until(has_its_dot)
    assert sentence_of(wall.run()) == "4 seeds from 3 phones · waiting for 2"
    key(wall, "next")
    assert WATCH not in said(participants[1].run())
    assert "Train one seed" not in labels(participants[1])
    assert projector_of(code_of(wall)).phase == "told"

    key(wall, "present", "present")
    for phase, result, sentence in (
        ("question", 0, 0),
        ("guess", 0, 0),
        ("run", 1, 0),
        ("figure", 1, 0),
        ("sentence", 1, 1),
    ):
        words = sent(at(wall, phase))
        assert ("4 seeds from 3 phones" in words, "It takes at least" in words) == (result, sentence), phase
        assert projector_of(code_of(wall)).phase != "guess", "the phones have seen the result"
        assert asks_nothing(wall)


def gave_seeds(code: str, issue: Issue, students: Sequence[Visitor], at: int = 0) -> list[Trial]:
    """Let the phones of these students give a seed each; all of them have the numbers of the first stored seed."""
    stored = shown_report(issue)
    assert stored is not None
    own = list[Trial]()
    for student in students:
        press_seed(code, student, at, 1)
        seed = class_seed(code, student, at, 1)
        arms = {arm.name for arm in class_experiment(issue).arms}
        first = [trial for trial in stored.trials if trial.seed == stored.seeds[0] and trial.arm in arms]
        own += [replace(trial, seed=seed.seed) for trial in first]
        keep_seed(seed, issue, own[-len(first) :])
    return own


@pytest.mark.parametrize("participants", [0, 1, 4, 7])
def test_seeds_that_were_asked_for_before_the_run_end_in_the_answer_of_the_stored_ones_whatever_has_come(
    open_page: Open, scripted: Scripted, participants: int
) -> None:
    issue = ISSUES["missing-mask"]
    wall = press(open_page("questions.py", issue=issue.slug, lesson="missing-mask.7~~heads.7", at="1"), "Present")
    at(wall, "guess")
    code, students = code_of(wall), [Visitor(f"student {number}") for number in range(participants)]
    for student in students:
        enter(code, student)
        keep_guess(code, student, 0, 1)
    phone = phone_in(open_page, code)
    guess(phone, issue.key_figure.answers[0])
    assert "stored" not in sent(key(wall, "seeds")), "the dots of the class come first"
    assert f"0 seeds from 0 phones · waiting for {participants + 1}" == sentence_of(wall)
    trials = gave_seeds(code, issue, students)
    if not participants:
        assert "0 of 1 have answered. Continue?" in drawn(key(wall, "next"))
    key(wall, "next")
    found = shown_report(issue)
    assert found is not None
    arms = {trial.arm for trial in trials}
    both = [trial for trial in found.trials if trial.arm in arms] + trials if trials else found.trials
    together = report(issue, both, list(dict.fromkeys(trial.seed for trial in both)))
    finding = key_finding_of(
        issue.key_figure, together.values, together.claim(issue.key_figure.claim).weighed, seed="seed" if trials else "stored seed"
    )  # fmt: skip
    assert finding is not None
    assert finding.right == (1,)
    assert (told := projector_of(code)).sentence == finding.sentence
    assert f"of {len(found.seeds) + participants} {'' if trials else 'stored '}seeds" in finding.sentence
    assert (told.phase, told.right, told.because) == ("told", (1,), finding.because)
    assert "Missing" not in finding.because
    assert "grey: stored seeds" in sent(wall)
    said_on_phone = said(phone.run())
    assert "You said: *It falls*. Measured: **It rises**." in said_on_phone
    assert finding.sentence in said_on_phone
    assert f"**Because** {finding.because}" in said_on_phone
    key(wall, "next")
    assert f"**Because** {finding.because}" in said(wall)
    key(wall, "next")
    assert phone.run().title[0].value == escaped(ISSUES["heads"].key_figure.question)


@pytest.mark.parametrize(("participants", "answered"), [(0, False), (2, True), (2, False)])
def test_a_wall_asks_once_whether_to_go_on_where_phones_are_here_and_none_has_answered(
    open_page: Open, scripted: Scripted, participants: int, answered: bool
) -> None:
    wall = at(presented(open_page), "guess")
    here = [phone_in(open_page, code_of(wall)) for _ in range(participants)]
    if participants:
        assert "0 of 2 have answered. Continue?" in drawn(key(wall, "next"))
        assert projector_of(code_of(wall)).phase == "guess"
    if answered:
        guess(here[0].run(), "It rises")
        assert "Continue?" not in drawn(key(wall, "2")), "another key takes the question away"
    key(wall, "next")
    assert projector_of(code_of(wall)).phase == "look"
    assert "Continue?" not in drawn(wall)
    assert ("The class:" in drawn(wall)) == answered, "three bars of nothing are no figure"


def test_where_the_answer_of_stored_seeds_stands_a_wall_does_not_say_how_far_its_own_run_is(
    open_page: Open, scripted: Scripted
) -> None:
    _, pool = scripted
    pool.at_once = False
    wall = press(open_page("questions.py", issue="missing-mask", lesson="missing-mask.7", at="1"), "Present")
    press(at(wall, "run"), "Train it here, too")
    until(lambda: bool(pool.submitted))
    at(wall, "sentence")
    assert "in 16 of 16 stored seeds" in sent(wall)
    assert "Stop" in labels(wall)
    assert f"seed {LIVE_SEED}" not in sent(wall)
    assert f"seed {LIVE_SEED}" in sent(key(wall, "present")), "a reader is told"


def test_the_presenter_empties_the_class_with_a_key_pressed_twice(open_page: Open, scripted: Scripted) -> None:
    wall = at(presented(open_page), "guess")
    code = code_of(wall)
    for number in range(3):
        enter(code, Visitor(f"cookie {number}"))
        keep_guess(code, Visitor(f"cookie {number}"), 0, -1)
    phone = phone_in(open_page, code)
    assert "Remove 4 students and all guesses? Press E again." in drawn(key(wall, "empty"))
    key(wall, "2")
    assert responses(code, 0) == Responses(4, {-1: 3}), "another key is no yes"
    key(wall, "empty", "empty")
    assert "The class is empty." in drawn(wall)
    assert responses(code, 0) == Responses(0, {})
    guess(phone.run(), "It rises")
    assert responses(code, 0) == Responses(1, {1: 1})


def test_a_link_of_a_class_that_another_browser_has_opened_and_a_class_that_is_refused_are_said_on_the_wall(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = {"issue": "scripted", "lesson": "scripted.5", "at": "1", "class": class_of(), "present": "true"}
    wall = open_page("questions.py", **link)
    assert "Another browser has opened this class. Press P twice to open a new one." in drawn(wall)
    key(wall, "present", "present")
    assert "Another browser" not in drawn(wall)
    assert projector_of(code_of(wall)).phase == "guess"
    monkeypatch.setattr(classroom, "MAX_CLASSES", 1)
    wall = presented(open_page)
    assert (code_of(wall), wall.session_state[PRESENTING].on) == ("", True)
    assert "classes are held just now. Open this one in a few minutes." in sent(wall)


@pytest.mark.parametrize(
    "wall",
    [
        ProjectorState("no-such-step.5", 0, "guess"),
        ProjectorState("heads.5", 1, "told"),
        ProjectorState("heads.5", -1, "seeds"),
        ProjectorState("", 0, "over"),
    ],
)
def test_a_phone_says_in_words_that_it_does_not_know_what_the_wall_shows(open_page: Open, wall: ProjectorState) -> None:
    phone = phone_in(open_page, class_of(wall))
    assert "This version does not know the present step." in said(phone)
    assert "Train one seed" not in labels(phone)
    assert asks_nothing(phone)


def test_a_waiting_phone_shows_the_title_of_the_lesson_and_no_link_or_icon_in_it(open_page: Open) -> None:
    phone = phone_in(
        open_page, class_of(ProjectorState("title~See www.evil.example or :material/home: or a@evil.example~~heads.5"))
    )
    (title,) = phone.header
    assert re.sub(r"[\\\u2060]", "", title.value) == "See www.evil.example or :material/home: or a@evil.example"
    assert not re.search(r"www\.|:material|\w@", title.value.replace("\\", ""))


def test_a_phone_whose_seed_cannot_be_kept_says_so(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = at(presented(open_page), "run")
    phone = phone_in(open_page, code_of(wall))
    key(wall, "seeds")
    monkeypatch.setattr("pages.parts.classroom.keep_seed", full)
    press(phone.run(), "Train one seed")
    until(lambda: "No space left on device." in said(phone.run()))
    assert not phone.get("progress")


@pytest.mark.parametrize(("answer", "right", "verdict"), [
    (1, (1,), ":green[:material/check:] You said: *It rises*. **Right.**"),
    (0, (0, 1), "You said: *It stays*. **Right.**"),
    (1, (0, 1), "You said: *It rises*. **Right.**"),
    (-1, (1,), "You said: *It falls*. Measured: **It rises**."),
    (-1, (), "You said: *It falls*. These runs do not decide it."),
    (None, (1,), "**It rises.**"),
])  # fmt: skip
def test_a_phone_is_told_by_what_the_runs_say(
    open_page: Open, scripted: Scripted, answer: Direction | None, right: tuple[Direction, ...], verdict: str
) -> None:
    code = class_of()
    phone = phone_in(open_page, code)
    if answer is not None:
        guess(phone, ANSWERS[answer + 1])
    told = replace(ASKS, phase="told", right=right)
    show_projector(code, TEACHER, told)
    assert WATCH in said(phone.run())
    show_projector(code, TEACHER, replace(told, sentence="It rises, in 6 of 6 seeds."))
    assert verdict in said(phone.run())
    assert "It rises, in 6 of 6 seeds." in said(phone)


def test_a_phone_that_reloads_keeps_its_guess_and_may_still_change_it(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda self: {COOKIE: "a" * 43}))
    code = class_of()
    guess(phone_in(open_page, code), "It rises")
    for _ in range(2):
        again = phone_in(open_page, code)
        assert COUNTED in said(again)
        assert responses(code, 0) == Responses(1, {1: 1})
    guess(again, "It falls")
    assert responses(code, 0) == Responses(1, {-1: 1})


def test_a_late_guess_and_a_full_disk_are_said_and_nothing_is_counted(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = class_of()
    phone = phone_in(open_page, code)
    with monkeypatch.context() as patch:
        patch.setattr(classroom, "write_whole", full)
        guess(phone, "It rises")
        assert "Could not save: No space left on device." in said(phone)
        late = phone_in(open_page, code)
        assert "Could not save (No space left on device). Trying again." in said(late)
    assert late.run().title[0].value == escaped(QUESTION)
    assert responses(code, 0) == Responses(2, {})
    show_projector(code, TEACHER, replace(ASKS, phase="look"))
    guess(phone, "It rises")  # its page does not know yet
    assert "The next step has begun." in said(phone)
    assert responses(code, 0) == Responses(2, {})


def test_a_made_up_class_is_said_to_have_ended_and_makes_nothing(open_page: Open, scripted: Scripted) -> None:
    for given in ("0123abcd", "89abcdef"):
        assert "This class has ended, or its link is incomplete." in said(phone_in(open_page, given))
        assert responses(given, 0) == Responses(0, {})
    assert "with the key **Q**" in said(open_page("classroom.py"))
    wrong = phone_in(open_page, "../x")
    assert "`class` is `../x`; allowed is the code in a link that Present makes." in said(wrong)


def test_no_phone_steers_the_wall_whatever_link_it_opens(open_page: Open, scripted: Scripted) -> None:
    code = class_of()
    stranger = {"issue": "scripted", "lesson": "heads.5~~scripted.5", "class": code}
    for present in ({}, {"present": "true"}):
        app = open_page("questions.py", **stranger, at="2", **present)
        key(app, "present", "present", "next", "next", "seeds", "leave")
        assert projector_of(code) == ASKS
    assert "Guesses are not counted" in sent(open_page("questions.py", **stranger, at="2", present="true"))


def test_a_phone_may_leave_to_explore_and_comes_back_and_cannot_present(open_page: Open, scripted: Scripted) -> None:
    code = class_of()
    phone = phone_in(open_page, code)
    assert [link.proto.label for link in phone.get("page_link") if link.proto.label == "Explore on your own"]
    for page, query in (("questions.py", {"issue": "scripted"}), ("lab.py", {}), ("notebooks.py", {})):
        phone.switch_page(page)
        phone.query_params.clear()
        phone.query_params.update(query)
        phone.run()
        back = next(link.proto for link in phone.get("page_link") if link.proto.label == "Back to the class")
        assert back.query_string == f"class={code}"
        assert phone.query_params["class"] == code, "also after a reload"
    key(phone, "present")
    assert PRESENTING not in phone.session_state
    press(phone, "Leave the class")
    assert "Leave the class" not in labels(phone.run())
    assert "class" not in phone.query_params


def test_present_opens_a_class_and_a_full_disk_leaves_the_lesson_without_one(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    warning, wall = "Guesses are not counted, because no class is open or the disk is full.", presented(open_page)
    enter(code_of(wall), PROGRAM)
    assert responses(code_of(wall), 0).students == 1
    assert warning not in sent(wall)
    assert f"classroom?class={code_of(wall)}" in sent(wall)
    monkeypatch.setattr(classroom, "give", full)
    wall = presented(open_page)
    assert (wall.session_state[PRESENTING].on, code_of(wall)) == (True, "")
    assert warning in sent(wall)


def test_a_lab_slide_asks_once_before_it_is_left_without_its_answer(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = ScriptedPool(lambda config: 0.1)
    pool.at_once = False
    monkeypatch.setattr(server, "pool", lambda: pool)
    wall = press(open_page("lab.py", steps="10", lesson="title~Mine~~lab~steps~10.5", at="1"), "Present")
    key(at(wall, "run"), "next", "next")
    (run,) = pool.submitted
    assert "The training has not ended. Continue?" in drawn(key(wall, "next"))
    assert not wall.session_state[PRESENTING].over
    assert projector_of(code_of(wall)).phase == "told"
    key(wall, "next")
    assert wall.session_state[PRESENTING].over
    key(wall, "back")
    pool.finish(run)
    key(wall, "next")
    assert wall.session_state[PRESENTING].over, "it has its answer"


def test_a_lab_slide_takes_a_guess_before_it_trains(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "pool", lambda: pool)
    pool = ScriptedPool(lambda config: 0.1)
    wall = press(open_page("lab.py", steps="10", lesson="title~Mine~~lab~steps~10.5~~text~Later.2", at="1"), "Present")
    phone = phone_in(open_page, code_of(wall))
    assert phone.title[0].value.endswith("Will this model learn it?")
    assert "Mine · Step 1 of 2" in said(phone)
    assert question(phone).options == ["No", "In part", "Yes"]
    guess(phone, "No")
    assert "**1 of 1** have guessed" in said(at(wall, "guess"))
    assert not pool.submitted, "nothing trains before the guess"
    key(wall, "3", "next")
    assert len(pool.submitted) == 1
    at(wall, "sentence")
    assert projector_of(code_of(wall)).sentence.startswith("Not learned in 10 steps")
    assert "1 of 1 right" in drawn(wall)
    assert "You said: *Yes*. Measured: **No**." in wall.subheader[0].value
    assert "You said: *No*. **Right.**" in said(phone.run())
    key(at(wall, "guess"), "1")
    box = question(wall)
    assert (box.value, box.proto.disabled) == (1, True), "it has been answered"
    at(wall, "sentence")
    key(wall, "next")
    assert phone.run().title[0].value == "Later"
    assert wall.title[0].value == "Later"
    assert "2 of 2" in sent(wall)
    assert wall.run().title[0].value == "Later", (
        "the test asks for the page of the lab, as a press does that comes while the page changes"
    )
    for pressed, over in (("next", True), ("next", True), ("back", False), ("next", True), ("present", False)):
        key(wall, pressed)
        assert (wall.session_state[PRESENTING].over, wall.session_state[PRESENTING].at) == (over, 1)
        ended = over or pressed == "present"  # who presents no more leads no phone
        assert (phone.run().title[0].value == "The lesson has ended") == ended


def test_a_slide_takes_guesses_and_then_tells_what_the_teacher_says(open_page: Open) -> None:
    slide = "text~Now~ask~Who?~Ann~Bob~Cy~0.5"
    wall = press(open_page("slide.py", lesson=f"title~Mine~~{slide}~~heads.5", at="1"), "Present")
    phone = phone_in(open_page, code_of(wall))
    key(at(wall, CODE), "next")
    assert phone.run().title[0].value == "Who?"
    key(wall, "next")
    guess(phone.run(), "Bob")
    assert "**1 of 1** have guessed" in said(wall.run())
    key(wall, "1")
    assert "The class:" not in drawn(wall)
    assert "Bob" not in said(wall)
    key(wall, "next")
    assert 'aria-label="The class: Ann 0, Bob 1, Cy 0; 1 of 1 right"' in drawn(wall)
    assert "You said: *Ann*. The teacher says: **Bob**." in wall.subheader[0].value
    assert "You said: *Bob*. **Right.**" in said(phone.run())
    (note,) = noted(phone).values()
    assert (note.question, note.guessed, note.found) == ("Who?", "Bob", "The teacher says: Bob.")
    assert key(wall, "next").title[0].value == ISSUES["heads"].title
