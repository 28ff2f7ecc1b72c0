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
from engine.experiments.key_figure import key_finding_in
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
from pages.parts.experiments.running import EXPERIMENTS, RUN_NAMES
from tests.engine.full_disk import full
from tests.engine.serving.test_pool import until
from tests.pages.looking import Open, guess, labels, messages_of, notes_of, page_text, press, question
from tests.pages.scripted_experiment import Scripted, ScriptedPool

TEACHER = Visitor("teacher")
ASKS = ProjectorState("scripted.5~~heads.5", phase="guess")
ANSWERS = ["It falls", "No change", "It rises"]
QUESTION = "Change one thing: what happens to the accuracy?"


def class_of(projector: ProjectorState = ASKS) -> str:
    """The code of a class that somebody presents."""
    code = open_class(TEACHER)
    show_projector(code, TEACHER, projector)
    return code


def presented(open_page: Open, lesson: str = "scripted.5~~heads.5") -> AppTest:
    """The projector of a lesson that begins with the scripted issue, at its QR code."""
    projector = press(open_page("questions.py", issue="scripted", seeds="6", lesson=lesson, at="1"), "Present")
    return at(projector, CODE)


def code_of(projector: AppTest) -> str:
    code: str = projector.session_state[PRESENTING].classroom
    return code


def at(projector: AppTest, phase: str | int) -> AppTest:
    now = projector.session_state[PRESENTING]
    projector.session_state[PRESENTING] = replace(
        now, phase=now.phases.index(phase) if isinstance(phase, str) else phase
    )
    return projector.run()


def key(app: AppTest, *names: str) -> AppTest:
    """Press keys of the presenter."""
    app.session_state[WAITING] = list(names)
    return app.run()


def participant_in(open_page: Open, code: str) -> AppTest:
    return open_page("classroom.py", **{"class": code})


def sentence_of(projector: AppTest) -> str:
    """The sentence on the seeds of the figure on the projector."""
    (found,) = re.findall(
        r"(\d+ seeds? from \d+ phones?)(?:[^\w]{1,6}(?:u00b7|302.267)? (waiting for \d+))?", messages_of(projector)
    )
    return " · ".join(filter(None, found))


def html_text(app: AppTest) -> str:
    return " ".join(box.value for box in app.get("html"))


def asks_nothing(app: AppTest) -> bool:
    """True if there is neither a choice of a guess nor a box for its size."""
    return not any(
        box.label == "Your guess" or "number?" in box.label for box in [*app.get("button_group"), *app.number_input]
    )


def test_a_key_that_guesses_and_the_next_one_that_runs_may_come_together(open_page: Open, scripted: Scripted) -> None:
    projector = key(at(presented(open_page), "question"), "3", "next")
    run = EXPERIMENTS.find(projector.session_state[RUN_NAMES]["scripted"])
    assert run is not None
    assert run.wait(600)
    assert "You said: *It rises*. **Right.**" in page_text(at(projector, "sentence"))


def test_phones_go_with_the_wall_through_a_step_and_are_told_who_was_right(open_page: Open, scripted: Scripted) -> None:
    projector = presented(open_page)
    assert "0 phones are here." in messages_of(projector)
    participants = [participant_in(open_page, code_of(projector)) for _ in range(3)]
    assert "3 phones are here." in messages_of(projector.run())
    for participant in participants:
        assert participant.title[0].value == "You are in the class"
        assert not {"Run", "Present"} & set(labels(participant))
        assert asks_nothing(participant)
    assert ":material/groups: **0 of 3** have guessed · waiting for 3" in page_text(at(projector, "guess"))
    for participant, answer in zip(participants, ("It rises", "It falls"), strict=False):
        assert participant.run().title[0].value == escaped(QUESTION)
        assert question(participant).options == ANSWERS
        guess(participant, answer)
        assert COUNTED in page_text(participant)
    words = page_text(projector.run())
    assert "**2 of 3** have guessed · waiting for 1" in words
    assert "The class:" not in html_text(projector), "nobody is told what the others think"

    at(projector, "run")
    assert 'aria-label="The class: It falls 1, No change 0, It rises 1"' in html_text(projector)
    assert f"Your guess: **It rises**. {LOOK_UP}" in page_text(participants[0].run())
    assert "Your guess" not in page_text(participants[2].run())
    assert asks_nothing(participants[0])
    run = EXPERIMENTS.find(projector.session_state[RUN_NAMES]["scripted"])
    assert run is not None
    assert run.wait(600)
    at(projector, "figure")
    assert projector_of(code_of(projector)).sentence == "", "the wall has not said it yet"
    at(projector, "sentence")
    assert "1 of 2 right" in html_text(projector)
    assert "of 0 right" not in bars(("No", "In part", "Yes"), Responses(1, {}), (1,)), "nobody guessed"
    verdicts = ("You said: *It rises*. **Right.**", "You said: *It falls*. Measured: **It rises**.", "**It rises.**")
    for participant, verdict in zip(participants, verdicts, strict=True):
        assert verdict in page_text(participant.run())
        assert (sentence := projector_of(code_of(projector)).sentence).startswith(
            "With a change the accuracy rises from"
        )
        assert sentence in page_text(participant)
    at(projector, "guess")
    assert "The run has ended. Guessing is closed." in page_text(projector)
    assert "Run" not in labels(projector)
    assert "each seed will be a dot" not in messages_of(projector)
    assert "The class:" in html_text(projector)
    assert "1 of 2 right" not in html_text(projector)
    assert f"Your guess: **It rises**. {LOOK_UP}" in page_text(participants[0].run()), "it has seen the result"
    key(at(projector, "sentence"), "seeds")
    assert "0 seeds from 0 phones" in messages_of(projector)
    assert "1 of 2 right" in html_text(projector), "what was told stands until the seeds of the class decide"
    assert "0 of 3 have answered. Continue?" in html_text(key(projector, "next"))
    key(projector, "next")
    assert verdicts[0] in page_text(participants[0].run())
    key(projector, "next")
    assert participants[0].run().title[0].value != QUESTION
    assert "Step 2 of 2" in page_text(participants[0])
    projector.query_params["at"] = "1"  # of a press that came while the page changed
    projector.run()
    assert (projector.session_state[PRESENTING].at, projector_of(code_of(projector)).at) == (1, 1)
    key(projector, "leave")
    for participant, answer in zip(participants, ("It rises", "It falls", ""), strict=True):
        assert participant.run().title[0].value == "The lesson has ended"
        assert "Report (HTML)" in [file.label for file in participant.get("download_button")]
        assert "Explore on your own" in [link.proto.label for link in participant.get("page_link")]
        (note,) = notes_of(participant).values()
        assert (note.title, note.question, note.guess) == ("Scripted, 4 arms", QUESTION, answer)
        assert (note.run, note.finding) == ("The class, on the projector.", sentence)


def test_each_phone_trains_a_seed_of_its_own_on_the_word_of_the_wall_and_it_falls_into_the_figure(
    open_page: Open, scripted: Scripted
) -> None:
    _, pool = scripted
    pool.at_once = False
    projector = at(presented(open_page), "run")
    experiment_run = EXPERIMENTS.find(projector.session_state[RUN_NAMES]["scripted"])
    assert experiment_run is not None
    participants = [participant_in(open_page, code_of(projector)) for _ in range(2)]
    assert "Train one model" not in labels(participants[0])
    key(projector, "seeds")
    assert experiment_run.wait(600)
    assert experiment_run.state == "stopped", "the cores are for the class"
    pool.at_once = True
    assert sentence_of(projector) == "0 seeds from 0 phones · waiting for 2"
    participants.append(participant_in(open_page, code_of(projector)))
    assert sentence_of(projector.run()) == "0 seeds from 0 phones · waiting for 3"
    for number, participant in enumerate(participants):
        press(participant.run(), "Train one model")
        assert "Train one model" not in labels(participant)
        until(lambda participant=participant: ON_PROJECTOR in page_text(participant.run()))
        expected = [
            "1 seed from 1 phone · waiting for 2",
            "2 seeds from 2 phones · waiting for 1",
            "3 seeds from 3 phones",
        ]
        assert sentence_of(projector.run()) == expected[number]
    before = len(pool.submitted)
    participants[0].run()
    assert len(pool.submitted) == before
    key(projector, "seeds")
    assert sentence_of(projector) == "3 seeds from 3 phones · waiting for 3"
    pool.at_once = False
    press(participants[0].run(), "Train one model")
    until(lambda: len(pool.submitted) > before)
    pool.finish(pool.submitted[-1])
    until(lambda: 0 < participants[0].run().get("progress")[0].proto.value < 100)

    def has_its_dot() -> bool:
        for run in pool.submitted:
            if run.live:
                pool.finish(run)
        return ON_PROJECTOR in page_text(participants[0].run())

    until(has_its_dot)
    assert sentence_of(projector.run()) == "4 seeds from 3 phones · waiting for 2"
    key(projector, "next")
    assert WATCH not in page_text(participants[1].run())
    assert "Train one model" not in labels(participants[1])
    assert projector_of(code_of(projector)).phase == "told"

    key(projector, "present", "present")
    for phase, result, sentence in (
        ("question", 0, 0),
        ("guess", 0, 0),
        ("run", 1, 0),
        ("figure", 1, 0),
        ("sentence", 1, 1),
    ):
        words = messages_of(at(projector, phase))
        assert ("4 seeds from 3 phones" in words, "must run before we can decide" in words) == (result, sentence), phase
        assert projector_of(code_of(projector)).phase != "guess", "the phones have seen the result"
        assert asks_nothing(projector)


def gave_seeds(code: str, issue: Issue, students: Sequence[Visitor], at: int = 0) -> list[Trial]:
    """Let the phones of these students give a seed each; all of them have the numbers of the first stored seed."""
    stored = shown_report(issue)
    assert stored is not None
    trials = list[Trial]()
    for student in students:
        press_seed(code, student, at, 1)
        seed = class_seed(code, student, at, 1)
        arms = {arm.name for arm in class_experiment(issue).arms}
        first = [trial for trial in stored.trials if trial.seed == stored.seeds[0] and trial.arm in arms]
        trials += [replace(trial, seed=seed.seed) for trial in first]
        keep_seed(seed, issue, trials[-len(first) :])
    return trials


@pytest.mark.parametrize("participants", [0, 1, 4, 7])
def test_seeds_that_were_asked_for_before_the_run_end_in_the_answer_of_the_stored_ones_whatever_has_come(
    open_page: Open, scripted: Scripted, participants: int
) -> None:
    issue = ISSUES["missing-mask"]
    projector = press(open_page("questions.py", issue=issue.slug, lesson="missing-mask.7~~heads.7", at="1"), "Present")
    at(projector, "guess")
    code, students = code_of(projector), [Visitor(f"student {number}") for number in range(participants)]
    for student in students:
        enter(code, student)
        keep_guess(code, student, 0, 1)
    participant = participant_in(open_page, code)
    guess(participant, issue.key_figure.answers[0])
    assert "stored" not in messages_of(key(projector, "seeds")), "the dots of the class come first"
    assert f"0 seeds from 0 phones · waiting for {participants + 1}" == sentence_of(projector)
    trials = gave_seeds(code, issue, students)
    if not participants:
        assert "0 of 1 have answered. Continue?" in html_text(key(projector, "next"))
    key(projector, "next")
    found = shown_report(issue)
    assert found is not None
    arms = {trial.arm for trial in trials}
    both = [trial for trial in found.trials if trial.arm in arms] + trials if trials else found.trials
    together = report(issue, both, list(dict.fromkeys(trial.seed for trial in both)))
    finding = key_finding_in(issue.key_figure, together, seed="seed" if trials else "stored seed")
    assert finding is not None
    assert finding.right == (1,)
    assert (state := projector_of(code)).sentence == finding.sentence
    assert f"of {len(found.seeds) + participants} {'' if trials else 'stored '}seeds" in finding.sentence
    assert (state.phase, state.right, state.because) == ("told", (1,), finding.because)
    assert "Missing" not in finding.because
    assert "grey: stored seeds" in messages_of(projector)
    text_on_phone = page_text(participant.run())
    assert "You said: *It falls*. Measured: **It rises**." in text_on_phone
    assert finding.sentence in text_on_phone
    assert f"**Because** {finding.because}" in text_on_phone
    key(projector, "next")
    assert f"**Because** {finding.because}" in page_text(projector)
    key(projector, "next")
    assert participant.run().title[0].value == escaped(ISSUES["heads"].key_figure.question)


@pytest.mark.parametrize(("participants", "answered"), [(0, False), (2, True), (2, False)])
def test_a_wall_asks_once_whether_to_go_on_where_phones_are_here_and_none_has_answered(
    open_page: Open, scripted: Scripted, participants: int, answered: bool
) -> None:
    projector = at(presented(open_page), "guess")
    here = [participant_in(open_page, code_of(projector)) for _ in range(participants)]
    if participants:
        assert "0 of 2 have answered. Continue?" in html_text(key(projector, "next"))
        assert projector_of(code_of(projector)).phase == "guess"
    if answered:
        guess(here[0].run(), "It rises")
        assert "Continue?" not in html_text(key(projector, "2")), "another key takes the question away"
    key(projector, "next")
    assert projector_of(code_of(projector)).phase == "look"
    assert "Continue?" not in html_text(projector)
    assert ("The class:" in html_text(projector)) == answered, "three bars of nothing are no figure"


def test_where_the_answer_of_stored_seeds_stands_a_wall_does_not_say_how_far_its_own_run_is(
    open_page: Open, scripted: Scripted
) -> None:
    _, pool = scripted
    pool.at_once = False
    projector = press(open_page("questions.py", issue="missing-mask", lesson="missing-mask.7", at="1"), "Present")
    press(at(projector, "run"), "Train it here")
    until(lambda: bool(pool.submitted))
    at(projector, "sentence")
    assert "in 16 of 16 stored seeds" in messages_of(projector)
    assert "Stop" in labels(projector)
    assert f"seed {LIVE_SEED}" not in messages_of(projector)
    assert f"seed {LIVE_SEED}" in messages_of(key(projector, "present")), "a reader is told"


def test_the_presenter_empties_the_class_with_a_key_pressed_twice(open_page: Open, scripted: Scripted) -> None:
    projector = at(presented(open_page), "guess")
    code = code_of(projector)
    for number in range(3):
        enter(code, Visitor(f"cookie {number}"))
        keep_guess(code, Visitor(f"cookie {number}"), 0, -1)
    participant = participant_in(open_page, code)
    assert "Remove 4 students and all guesses? Press E again." in html_text(key(projector, "empty"))
    key(projector, "2")
    assert responses(code, 0) == Responses(4, {-1: 3}), "another key is no yes"
    key(projector, "empty", "empty")
    assert "The class is empty." in html_text(projector)
    assert responses(code, 0) == Responses(0, {})
    guess(participant.run(), "It rises")
    assert responses(code, 0) == Responses(1, {1: 1})


def test_a_link_of_a_class_that_another_browser_has_opened_and_a_class_that_is_refused_are_said_on_the_wall(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = {"issue": "scripted", "lesson": "scripted.5", "at": "1", "class": class_of(), "present": "true"}
    projector = open_page("questions.py", **link)
    assert "Another browser has opened this class. Press P twice to open a new one." in html_text(projector)
    key(projector, "present", "present")
    assert "Another browser" not in html_text(projector)
    assert projector_of(code_of(projector)).phase == "guess"
    monkeypatch.setattr(classroom, "MAX_CLASSES", 1)
    projector = presented(open_page)
    assert (code_of(projector), projector.session_state[PRESENTING].on) == ("", True)
    assert "classes are open now, which is the limit. Try again in a few minutes." in messages_of(projector)


@pytest.mark.parametrize(
    "projector",
    [
        ProjectorState("no-such-step.5", 0, "guess"),
        ProjectorState("heads.5", 1, "told"),
        ProjectorState("heads.5", -1, "seeds"),
        ProjectorState("", 0, "over"),
    ],
)
def test_a_phone_says_in_words_that_it_does_not_know_what_the_wall_shows(
    open_page: Open, projector: ProjectorState
) -> None:
    participant = participant_in(open_page, class_of(projector))
    assert "This version of the app cannot show this step." in page_text(participant)
    assert "Train one model" not in labels(participant)
    assert asks_nothing(participant)


def test_a_waiting_phone_shows_the_title_of_the_lesson_and_no_link_or_icon_in_it(open_page: Open) -> None:
    participant = participant_in(
        open_page, class_of(ProjectorState("title~See www.evil.example or :material/home: or a@evil.example~~heads.5"))
    )
    (title,) = participant.header
    assert re.sub(r"[\\\u2060]", "", title.value) == "See www.evil.example or :material/home: or a@evil.example"
    assert not re.search(r"www\.|:material|\w@", title.value.replace("\\", ""))


def test_a_phone_whose_seed_cannot_be_kept_says_so(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    projector = at(presented(open_page), "run")
    participant = participant_in(open_page, code_of(projector))
    key(projector, "seeds")
    monkeypatch.setattr("pages.parts.classroom.keep_seed", full)
    press(participant.run(), "Train one model")
    until(lambda: "No space left on device." in page_text(participant.run()))
    assert not participant.get("progress")


@pytest.mark.parametrize(("answer", "right", "verdict"), [
    (1, (1,), ":green[:material/check:] You said: *It rises*. **Right.**"),
    (0, (0, 1), "You said: *No change*. **Right.**"),
    (1, (0, 1), "You said: *It rises*. **Right.**"),
    (-1, (1,), "You said: *It falls*. Measured: **It rises**."),
    (-1, (), "You said: *It falls*. These runs do not decide it."),
    (None, (1,), "**It rises.**"),
])  # fmt: skip
def test_a_phone_is_told_by_what_the_runs_say(
    open_page: Open, scripted: Scripted, answer: Direction | None, right: tuple[Direction, ...], verdict: str
) -> None:
    code = class_of()
    participant = participant_in(open_page, code)
    if answer is not None:
        guess(participant, ANSWERS[answer + 1])
    state = replace(ASKS, phase="told", right=right)
    show_projector(code, TEACHER, state)
    assert WATCH in page_text(participant.run())
    show_projector(code, TEACHER, replace(state, sentence="It rises, in 6 of 6 seeds."))
    assert verdict in page_text(participant.run())
    assert "It rises, in 6 of 6 seeds." in page_text(participant)


def test_a_phone_that_reloads_keeps_its_guess_and_may_still_change_it(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda self: {COOKIE: "a" * 43}))
    code = class_of()
    guess(participant_in(open_page, code), "It rises")
    for _ in range(2):
        again = participant_in(open_page, code)
        assert COUNTED in page_text(again)
        assert responses(code, 0) == Responses(1, {1: 1})
    guess(again, "It falls")
    assert responses(code, 0) == Responses(1, {-1: 1})


def test_a_late_guess_and_a_full_disk_are_said_and_nothing_is_counted(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = class_of()
    participant = participant_in(open_page, code)
    with monkeypatch.context() as patch:
        patch.setattr(classroom, "write_whole", full)
        guess(participant, "It rises")
        assert "Could not save: No space left on device." in page_text(participant)
        late = participant_in(open_page, code)
        assert "Could not save (No space left on device). Trying again." in page_text(late)
    assert late.run().title[0].value == escaped(QUESTION)
    assert responses(code, 0) == Responses(2, {})
    show_projector(code, TEACHER, replace(ASKS, phase="look"))
    guess(participant, "It rises")  # its page does not know yet
    assert "The next step has begun." in page_text(participant)
    assert responses(code, 0) == Responses(2, {})


def test_a_made_up_class_is_said_to_have_ended_and_makes_nothing(open_page: Open, scripted: Scripted) -> None:
    for given in ("0123abcd", "89abcdef"):
        assert "This class has ended, or its link is incomplete." in page_text(participant_in(open_page, given))
        assert responses(given, 0) == Responses(0, {})
    assert "with the key **Q**" in page_text(open_page("classroom.py"))
    wrong = participant_in(open_page, "../x")
    assert "`class` is `../x`; it must be the code in a link that Present makes." in page_text(wrong)


def test_no_phone_steers_the_wall_whatever_link_it_opens(open_page: Open, scripted: Scripted) -> None:
    code = class_of()
    stranger = {"issue": "scripted", "lesson": "heads.5~~scripted.5", "class": code}
    for present in ({}, {"present": "true"}):
        app = open_page("questions.py", **stranger, at="2", **present)
        key(app, "present", "present", "next", "next", "seeds", "leave")
        assert projector_of(code) == ASKS
    assert "Guesses are not counted" in messages_of(open_page("questions.py", **stranger, at="2", present="true"))


def test_a_phone_may_leave_to_explore_and_comes_back_and_cannot_present(open_page: Open, scripted: Scripted) -> None:
    code = class_of()
    participant = participant_in(open_page, code)
    assert [link.proto.label for link in participant.get("page_link") if link.proto.label == "Explore on your own"]
    for page, query in (("questions.py", {"issue": "scripted"}), ("lab.py", {}), ("notebooks.py", {})):
        participant.switch_page(page)
        participant.query_params.clear()
        participant.query_params.update(query)
        participant.run()
        back = next(link.proto for link in participant.get("page_link") if link.proto.label == "Back to the class")
        assert back.query_string == f"class={code}"
        assert participant.query_params["class"] == code, "also after a reload"
    key(participant, "present")
    assert PRESENTING not in participant.session_state
    press(participant, "Leave the class")
    assert "Leave the class" not in labels(participant.run())
    assert "class" not in participant.query_params


def test_present_opens_a_class_and_a_full_disk_leaves_the_lesson_without_one(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    warning, projector = "Guesses are not counted, because no class is open or the disk is full.", presented(open_page)
    enter(code_of(projector), PROGRAM)
    assert responses(code_of(projector), 0).students == 1
    assert warning not in messages_of(projector)
    assert f"classroom?class={code_of(projector)}" in messages_of(projector)
    monkeypatch.setattr(classroom, "write_for_visitor", full)
    projector = presented(open_page)
    assert (projector.session_state[PRESENTING].on, code_of(projector)) == (True, "")
    assert warning in messages_of(projector)


def test_a_lab_slide_asks_once_before_it_is_left_without_its_answer(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = ScriptedPool(lambda config: 0.1)
    pool.at_once = False
    monkeypatch.setattr(server, "pool", lambda: pool)
    projector = press(open_page("lab.py", steps="10", lesson="title~Mine~~lab~steps~10.5", at="1"), "Present")
    key(at(projector, "run"), "next", "next")
    (run,) = pool.submitted
    assert "The training has not ended. Continue?" in html_text(key(projector, "next"))
    assert not projector.session_state[PRESENTING].over
    assert projector_of(code_of(projector)).phase == "told"
    key(projector, "next")
    assert projector.session_state[PRESENTING].over
    key(projector, "back")
    pool.finish(run)
    key(projector, "next")
    assert projector.session_state[PRESENTING].over, "it has its answer"


def test_a_lab_slide_takes_a_guess_before_it_trains(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "pool", lambda: pool)
    pool = ScriptedPool(lambda config: 0.1)
    projector = press(
        open_page("lab.py", steps="10", lesson="title~Mine~~lab~steps~10.5~~text~Later.2", at="1"), "Present"
    )
    participant = participant_in(open_page, code_of(projector))
    assert participant.title[0].value.endswith("Will this model learn it?")
    assert "Mine · Step 1 of 2" in page_text(participant)
    assert question(participant).options == ["No", "In part", "Yes"]
    guess(participant, "No")
    assert "**1 of 1** have guessed" in page_text(at(projector, "guess"))
    assert not pool.submitted, "nothing trains before the guess"
    key(projector, "3", "next")
    assert len(pool.submitted) == 1
    at(projector, "sentence")
    assert projector_of(code_of(projector)).sentence.startswith("Not learned in 10 steps")
    assert "1 of 1 right" in html_text(projector)
    assert "You said: *Yes*. Measured: **No**." in projector.subheader[0].value
    assert "You said: *No*. **Right.**" in page_text(participant.run())
    key(at(projector, "guess"), "1")
    box = question(projector)
    assert (box.value, box.proto.disabled) == (1, True), "it has been answered"
    at(projector, "sentence")
    key(projector, "next")
    assert participant.run().title[0].value == "Later"
    assert projector.title[0].value == "Later"
    assert "2 of 2" in messages_of(projector)
    assert projector.run().title[0].value == "Later", (
        "the test asks for the page of the lab, as a press does that comes while the page changes"
    )
    for pressed, over in (("next", True), ("next", True), ("back", False), ("next", True), ("present", False)):
        key(projector, pressed)
        assert (projector.session_state[PRESENTING].over, projector.session_state[PRESENTING].at) == (over, 1)
        ended = over or pressed == "present"  # who presents no more leads no phone
        assert (participant.run().title[0].value == "The lesson has ended") == ended


def test_a_slide_takes_guesses_and_then_tells_what_the_teacher_says(open_page: Open) -> None:
    slide = "text~Now~ask~Who?~Ann~Bob~Cy~0.5"
    projector = press(open_page("slide.py", lesson=f"title~Mine~~{slide}~~heads.5", at="1"), "Present")
    participant = participant_in(open_page, code_of(projector))
    key(at(projector, CODE), "next")
    assert participant.run().title[0].value == "Who?"
    key(projector, "next")
    guess(participant.run(), "Bob")
    assert "**1 of 1** have guessed" in page_text(projector.run())
    key(projector, "1")
    assert "The class:" not in html_text(projector)
    assert "Bob" not in page_text(projector)
    key(projector, "next")
    assert 'aria-label="The class: Ann 0, Bob 1, Cy 0; 1 of 1 right"' in html_text(projector)
    assert "You said: *Ann*. The teacher says: **Bob**." in projector.subheader[0].value
    assert "You said: *Bob*. **Right.**" in page_text(participant.run())
    (note,) = notes_of(participant).values()
    assert (note.question, note.guess, note.finding) == ("Who?", "Bob", "The teacher says: Bob.")
    assert key(projector, "next").title[0].value == ISSUES["heads"].title
