"""The screen of a participant: a question, three large answers, a seed to train, and the result.

It shows one value (:class:`Participant`), which is read from the class on disk at each draw. Nothing of it is in the
session, so a reload changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from engine.experiments.class_seeds import ClassSeed, class_experiment, class_seed, keep_seed, press_seed
from engine.experiments.classroom import ProjectorState, enter, keep_guess, projector_of
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import Lesson, LessonStep, from_code
from engine.experiments.question import Direction, Question
from engine.foundation.errors import Refused
from engine.settings.errors import ConfigError
from pages.parts.app.frame import as_fragment
from pages.parts.app.in_markdown import escaped, in_markdown, refused_in_words, show_refusal
from pages.parts.app.visitor import number_present, visitor
from pages.parts.experiments.board import CHECKS_PER_SECOND
from pages.parts.experiments.handouts import Note, offer_report, write_down
from pages.parts.experiments.presenting import file_of
from pages.parts.experiments.question import ask, guess_result
from pages.parts.experiments.running import EXPERIMENTS, run_of

PROJECTOR_CHECK_SECONDS = 1.0  # at least
UNKNOWN_STEP = "This version of the app cannot show this step. Look at the projector."
LOOK_UP = "Look at the projector."
WATCH = "Watch the projector: the answer appears there."
COUNTED = "Got it. You can still change your answer."
ON_PROJECTOR = "Your dot is on the projector."
REFUSED = "classroom"  # key of the page's refusals


@dataclass(frozen=True)
class Participant:
    projector: ProjectorState
    lesson: Lesson
    guesses: Mapping[int, Direction]
    seed: ClassSeed | None = None  # of this round, while the projector asks for one

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.projector.at]


def show_participant(code: str) -> None:
    first = _looked_at(code)

    def draw() -> None:
        participant, why = now = _looked_at(code)
        if now != first:
            st.rerun()
        if participant is None:
            st.title("This class", anchor=False)
            st.markdown(why)
        else:
            _show(code, participant)
        show_refusal(REFUSED)
        if participant is not None and participant.projector.phase != "wait":
            _offer_exploring(participant.step)

    with st.container(key="participant"):
        # All of it at each check: if one comes as a script run ends, Streamlit drops the unsent part of that run.
        as_fragment(draw, every=max(PROJECTOR_CHECK_SECONDS, number_present() / CHECKS_PER_SECOND))


def _looked_at(code: str) -> tuple[Participant | None, str]:
    """Take the visitor into the class; return the screen, or None and the reason."""
    try:
        projector, student = projector_of(code), visitor()
        seed = class_seed(code, student, projector.at, projector.round) if projector.phase == "seeds" else None
        lesson = from_code(projector.lesson) if projector.lesson else Lesson("", ())
        if projector.phase != "wait" and projector.at not in range(len(lesson.steps)):
            return None, UNKNOWN_STEP
        return Participant(projector, lesson, enter(code, student), seed), ""
    except Refused as refusal:
        return None, str(refusal)
    except ConfigError:
        return None, UNKNOWN_STEP
    except OSError as error:
        return None, f"Could not save ({error.strerror or type(error).__name__}). Trying again."


def _show(code: str, participant: Participant) -> None:
    projector = participant.projector
    if projector.phase == "wait":
        st.title("You are in the class", anchor=False)
        if participant.lesson.title:
            st.header(escaped(participant.lesson.title), anchor=False)
        st.markdown("Your question will appear here. Guesses are counted without names.")
        return
    if projector.phase == "over":
        st.title("The lesson has ended", anchor=False)
        offer_report()
        return
    lesson, step = participant.lesson, participant.step
    title = f"{escaped(lesson.title)} · " if lesson.title else ""
    st.caption(f"{title}Step {projector.at + 1} of {len(lesson.steps)}")
    question, guess = step.question, participant.guesses.get(projector.at)
    if question is None:
        st.title(escaped(step.title), anchor=False)
        st.markdown(LOOK_UP)
    else:
        if question.sample and projector.phase == "guess":
            st.caption(question.sample)
        st.title(escaped(question.words), anchor=False)
        match projector.phase:
            case "guess":
                _guess(code, projector.at, question, guess)
            case "seeds" if participant.seed is not None:
                _seeds(code, participant, participant.seed)
            case "told":
                _sentence(projector, question, guess)
                taught = [f"The teacher says: {question.in_words(one)}." for one in question.taught]
                if result := " ".join(taught) or projector.sentence:
                    sentence = question.in_words(guess) if guess is not None else ""
                    note = Note(step.title, question.words, sentence, "The class, on the projector.", result)
                    write_down(f"class.{code}.{projector.at}", note)
            case _:
                st.markdown(f"{_your_guess(question, guess)} {LOOK_UP}".strip())


def _offer_exploring(step: LessonStep) -> None:
    with st.container(key="participant-explore"):
        file, label = "start.py" if step.slide else file_of(step), "Explore on your own"
        st.page_link(file, label=label, icon=":material/explore:", query_params=step.query)


def _guess(code: str, at: int, question: Question, guess: Direction | None) -> None:
    def take(answer: Direction) -> None:
        with refused_in_words(REFUSED):
            keep_guess(code, visitor(), at, answer)

    with st.container(key="participant-answers"):
        # A tap on another answer changes the guess until the projector continues.
        ask(question, f"participant-answers-{at}", guess, take)
    st.markdown(COUNTED if guess is not None else "What do you think?")


def _seeds(code: str, participant: Participant, seed: ClassSeed) -> None:
    projector = participant.projector

    def press() -> None:
        with refused_in_words(REFUSED):
            press_seed(code, visitor(), projector.at, projector.round)

    if seed.done:
        st.markdown(f":green[:material/check:] **{ON_PROJECTOR}**")
    elif seed.pressed:
        _train(code, participant, seed)
    else:
        st.markdown("Train one model with your own random start. Its result becomes a dot on the projector.")
        icon, key = ":material/play_arrow:", "participant-train"
        st.button("Train one model", icon=icon, key=key, type="primary", width="stretch", on_click=press)


def _sentence(projector: ProjectorState, question: Question, guess: Direction | None) -> None:
    if not (projector.sentence or question.taught):
        st.markdown(f"{_your_guess(question, guess)} {WATCH}".strip())
        return
    st.markdown(guess_result(question, guess, projector.right))
    st.markdown(in_markdown(projector.sentence))
    if projector.because:
        st.markdown(f"**Because** {in_markdown(projector.because)}")


def _your_guess(question: Question, guess: Direction | None) -> str:
    return f"Your guess: **{escaped(question.in_words(guess))}**." if guess is not None else ""


def _train(code: str, participant: Participant, seed: ClassSeed) -> None:
    issue = ISSUES.get(participant.step.issue)
    name = f"class.{seed.file.stem}.{code}"
    current = EXPERIMENTS.find(name)
    if current is not None and (problem := current.problem or current.unsaved):
        st.caption(f":orange[{escaped(problem)}]")
    else:
        st.progress(
            current.share_done if current else 0.0,
            "**Your model is training.** Its result becomes a dot on the projector.",
        )
    if issue is None or (current is not None and current.state != "stopped"):
        return
    run = run_of(class_experiment(issue, seed.seed), visitor())

    def keep(_: str) -> None:
        if run.state == "finished":
            keep_seed(seed, issue, run.trials)

    try:
        EXPERIMENTS.begin(run, name=name, keep=keep)
    except Refused as refusal:
        st.caption(f":orange[{refusal} Trying again.]")
