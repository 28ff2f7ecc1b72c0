"""The page for teachers: each lesson with its link and sheets, and a lesson of the teacher's own as a link."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from engine.config.presets import PRESETS
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import (
    MAX_ANSWER_LETTERS,
    MAX_MINUTES,
    MAX_QUESTION_LETTERS,
    MAX_SLIDE_LETTERS,
    MAX_STEPS,
    MAX_TITLE_LETTERS,
    PREPARED,
    Lesson,
    LessonStep,
    Slide,
    from_code,
    lab_step,
    teachers_question,
    teachers_words,
    to_code,
)
from engine.experiments.question import ANSWERS
from engine.experiments.run_readings import READINGS
from engine.foundation.formatting import counted
from engine.settings.errors import ConfigError
from engine.settings.fields import to_text
from pages.parts.app.in_markdown import escaped
from pages.parts.app.page_state import ModelSettings, PageState, offer_file
from pages.parts.experiments.handouts import hand_out, only_here, show_qr_code, teachers_sheet
from pages.parts.experiments.presenting import link_of, start_lesson

INTRODUCTION = "Your class guesses, a model trains, and everyone sees the answer."
WAYS = """
- **Present** shows one step in large letters. Press → for the next, **Escape** to leave.
- **Students** scan the QR code and answer on their phones.
- **The teacher’s sheet** lists keyboard keys, things to say and results.
"""
STEPS = "steps"
QR_WIDTH = 220
MINUTES = 5  # of a new step in the lab
MINUTES_OF_TEXT = 2  # of a new slide
TEXT = ":material/notes: Text"


class TeachState(PageState):
    steps: str | None = None

    def check(self) -> None:
        """Raises ConfigError for a link without a lesson."""
        if self.steps is not None:
            try:
                from_code(self.steps)
            except ConfigError as error:
                raise ConfigError([replace(problem, setting=STEPS) for problem in error.problems]) from None


SETTINGS = ModelSettings("teach", TeachState)


def teachers_lesson() -> Lesson:
    code = SETTINGS.values()[STEPS]
    return from_code(code) if code else Lesson("", ())


def keep(**changes: Any) -> None:
    lesson = replace(teachers_lesson(), **changes)
    SETTINGS.put({STEPS: to_code(lesson) if lesson.steps else None})


def show_lesson(lesson: Lesson, base: str, key: str) -> None:
    """One row: title, minutes, Present, and the other ways to use a lesson.

    ``base``: the app's address, ending in a slash. ``key``: unique on the page.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"teach-lesson-{key}"):
        steps = counted(len(lesson.steps), "step")
        st.markdown(
            f"**{escaped(lesson.title or 'Your lesson')}** · {lesson.minutes} minutes · {steps}", width="stretch"
        )
        if st.button("Present", icon=":material/co_present:", type="primary", key=f"teach.present.{key}"):
            start_lesson(lesson)
        with st.popover("Share, print", icon=":material/print:"):
            if lesson.goal:
                st.markdown(f"**Goal.** {lesson.goal}")
            st.caption(escaped(" · ".join(f"{step.title} ({step.minutes} min)" for step in lesson.steps)))
            _show_link(lesson, base, key)
            if st.button("Try it alone", icon=":material/route:", key=f"teach.walk.{key}"):
                start_lesson(lesson, on=False)


def _show_link(lesson: Lesson, base: str, key: str) -> None:
    link = link_of(lesson, base)
    if warning := only_here(link):
        st.caption(warning)
    on_paper = partial(hand_out, lesson, "" if warning else link)
    code, qr = st.columns([2, 1])
    with code:
        st.code(link, language=None, wrap_lines=True)
        sheet = partial(teachers_sheet, lesson)
        offer_file("Teacher’s sheet", sheet, f"lesson-{key}-sheet.html", ":material/co_present:")
        offer_file("Handout, to print", on_paper, f"lesson-{key}-handout.html", ":material/print:")
    with qr:
        show_qr_code(link, QR_WIDTH)


def show_teachers_lesson(base: str) -> None:
    lesson = teachers_lesson()
    steps = lesson.steps
    with st.expander("Your own lesson", icon=":material/edit_note:", expanded=bool(steps)):
        if steps:
            title = st.text_input(
                "Title", lesson.title, MAX_TITLE_LETTERS, key=f"teach.title.{lesson.title}", width=480
            )
            if (title := teachers_words(title or "", MAX_TITLE_LETTERS)) != lesson.title:
                keep(title=title)
                st.rerun()
        for number, step in enumerate(steps):
            _row(steps, number, step)
        _add(steps)
        if steps:
            show_lesson(lesson, base, "own")


def _row(steps: tuple[LessonStep, ...], number: int, step: LessonStep) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"teach-step-{number}"):
        icon = "help" if step.issue else "notes" if step.slide else "science"
        asks = f" · {escaped(step.teachers_question.words)}" if step.teachers_question and not step.guide else ""
        st.markdown(f"{number + 1}. :material/{icon}: {escaped(step.title)}{asks}", width="stretch")
        key = f"teach.minutes.{number}.{to_code(Lesson('', steps))}"
        minutes = st.number_input(
            f"Minutes of step {number + 1}", 1, MAX_MINUTES, step.minutes, key=key, label_visibility="collapsed", width=110
        )  # fmt: skip
        st.markdown("min")
        if minutes != step.minutes:
            keep(steps=(*steps[:number], replace(step, minutes=int(minutes)), *steps[number + 1 :]))
            st.rerun()
        for icon, words, changed in (
            ("arrow_upward", "Earlier", _move_step(steps, number, number - 1)),
            ("arrow_downward", "Later", _move_step(steps, number, number + 1)),
            ("close", "Remove", (*steps[:number], *steps[number + 1 :])),
        ):
            st.button(
                f"{words}: step {number + 1}", icon=f":material/{icon}:", key=f"teach.{words}.{number}", type="tertiary",
                help=words, on_click=keep, kwargs={"steps": changed}, disabled=changed == steps and words != "Remove",
            )  # fmt: skip


def _move_step(steps: tuple[LessonStep, ...], number: int, to: int) -> tuple[LessonStep, ...]:
    if not 0 <= to < len(steps):
        return steps
    order = list(steps)
    order.insert(to, order.pop(number))
    return tuple(order)


def _add(steps: tuple[LessonStep, ...]) -> None:
    kinds: dict[str, dict[str, Callable[[], LessonStep]]] = {
        ":material/help: Question": {one.title: partial(LessonStep, one.minutes, slug) for slug, one in ISSUES.items()},
        ":material/science: Lab": {
            **{one.title: partial(lab_step, MINUTES, one.config) for one in PRESETS.values()},
            **{one.title: partial(replace, one) for one in PREPARED.values()},
        },
    }
    # Keys by the number of steps empty the boxes after each added step.
    names, first = [*kinds, TEXT], next(iter(kinds))
    kind = st.segmented_control("Add a step", names, default=first, required=True, key="teach.kind")
    made: LessonStep | None = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if kind == TEXT:
            title = teachers_words(
                st.text_input("Title of the slide", max_chars=MAX_TITLE_LETTERS, key=f"teach.slide.{len(steps)}") or "",
                MAX_TITLE_LETTERS,
            )
            text = teachers_words(
                st.text_area("Text", height=100, max_chars=MAX_SLIDE_LETTERS, key=f"teach.text.{len(steps)}") or "",
                MAX_SLIDE_LETTERS,
            )
            made = LessonStep(MINUTES_OF_TEXT, slide=Slide(title, text)) if title else None
        else:
            there = kinds[str(kind)]
            chosen = st.selectbox(
                "Which one", list(there), index=None, placeholder="Choose one", key=f"teach.add.{len(steps)}"
            )
            made = there[chosen]() if chosen is not None else None
    requirement = "" if made else "A slide needs a title." if kind == TEXT else "Choose one first."
    if made is not None and not (made.issue or made.guide):
        made, requirement = _ask(made, len(steps))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        missing = f"A lesson has at most {MAX_STEPS} steps." if len(steps) >= MAX_STEPS else requirement
        pressed = st.button("Add", icon=":material/add:", disabled=bool(missing), help=missing or None)
        if pressed and made is not None:
            keep(steps=(*steps, made))
            st.rerun()


def _ask(step: LessonStep, key: int) -> tuple[LessonStep, str]:
    """Draw the boxes for a question. Return the step, with a complete question, and the missing part in words."""
    with st.expander("Ask your own question", icon=":material/help:"):
        words = st.text_input("Question", max_chars=MAX_QUESTION_LETTERS, key=f"teach.question.{key}") or ""
        answers = [
            column.text_input(f"Answer {number}", max_chars=MAX_ANSWER_LETTERS, key=f"teach.answer.{number}.{key}")
            or ""
            for number, column in enumerate(st.columns(len(ANSWERS)), start=1)
        ]
        if step.slide:
            label, deciders = "Right answer", {f"Answer {answer + 2}": to_text(answer) for answer in ANSWERS}
        else:
            label = "The run decides: answers 1, 2 and 3"
            deciders = {one.words: name for name, one in READINGS.items() if one.fits(step.config)}
        by = st.selectbox(label, list(deciders), key=f"teach.decides.{key}")
    if not words:
        return step, ""
    try:
        return replace(step, teachers_question=teachers_question(step, words, answers, deciders[by])), ""
    except ConfigError:
        return step, "A question needs three different answers."
