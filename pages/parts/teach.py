"""Parts of the page for teachers: what can be done with a lesson (present it, go through it alone, send it as a link, print its sheets),
and a teacher's own as a link."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from engine.config.presets import PRESETS
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import (
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_MINUTES,
    MOST_STEPS,
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

INTRODUCTION = "Your class guesses, a model trains, and all see whether they were right."
WAYS = """
- **Present** shows one step in large letters. Press → for the next, **Escape** to leave.
- **Students** scan the QR code, answer on their phones, and see whether they were right.
- **The teacher’s sheet** has the keys, talking points and results.
"""
STEPS = "steps"
QR_WIDTH = 220
MINUTES = 5
"""The minutes of a step in the lab that was just added."""
MINUTES_OF_TEXT = 2
"""The same of a slide."""
TEXT = ":material/notes: Text"
"""The choice of a slide among the kinds of steps."""


class TeachState(PageState):
    steps: str | None = None

    def check(self) -> None:
        """Raises ConfigError where the link holds no lesson."""
        if self.steps is not None:
            try:
                from_code(self.steps)
            except ConfigError as error:
                raise ConfigError([replace(problem, setting=STEPS) for problem in error.problems]) from None


SETTINGS = ModelSettings("teach", TeachState)


def teachers_lesson() -> Lesson:
    """The teacher's own lesson so far."""
    code = SETTINGS.values()[STEPS]
    return from_code(code) if code else Lesson("", ())


def keep(**changes: Any) -> None:
    """Change the teacher's own lesson."""
    lesson = replace(teachers_lesson(), **changes)
    SETTINGS.put({STEPS: to_code(lesson) if lesson.steps else None})


def show_lesson(lesson: Lesson, base: str, key: str) -> None:
    """One row of a lesson: its title and minutes, Present, and all else that can be done with it. ``base``: the address of the app, with a
    slash at its end. ``key``: the lesson's among those of the page."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"teach-lesson-{key}"):
        steps = counted(len(lesson.steps), "step")
        st.markdown(
            f"**{escaped(lesson.title or 'Your lesson')}** · {lesson.minutes} minutes · {steps}", width="stretch"
        )
        if st.button("Present", icon=":material/co_present:", type="primary", key=f"teach.present.{key}"):
            start_lesson(lesson)
        with st.popover("Link, sheets", icon=":material/print:"):
            if lesson.goal:
                st.markdown(f"**Goal.** {lesson.goal}")
            st.caption(escaped(" · ".join(f"{step.title} ({step.minutes} min)" for step in lesson.steps)))
            _show_link(lesson, base, key)
            if st.button("Try it alone", icon=":material/route:", key=f"teach.walk.{key}"):
                start_lesson(lesson, on=False)


def _show_link(lesson: Lesson, base: str, key: str) -> None:
    """The link for the class as text and as a QR code, and what can be printed."""
    link = link_of(lesson, base)
    if warning := only_here(link):
        st.caption(warning)
    on_paper = partial(hand_out, lesson, "" if warning else link)
    code, qr = st.columns([2, 1])
    with code:
        st.code(link, language=None, wrap_lines=True)
        sheet = partial(teachers_sheet, lesson)
        offer_file("Teacher’s sheet", sheet, f"lesson-{key}-sheet.html", ":material/co_present:")
        offer_file("Hand-out, to print", on_paper, f"lesson-{key}-hand-out.html", ":material/print:")
    with qr:
        show_qr_code(link, QR_WIDTH)


def show_teachers_lesson(base: str) -> None:
    """The title and the steps with their controls, what can be added, and the ways to hold the lesson. ``base``: see show_lesson."""
    lesson = teachers_lesson()
    steps = lesson.steps
    with st.expander("Your own lesson", icon=":material/edit_note:", expanded=bool(steps)):
        if steps:
            title = st.text_input("Title", lesson.title, LONGEST_TITLE, key=f"teach.title.{lesson.title}", width=480)
            if (title := teachers_words(title or "", LONGEST_TITLE)) != lesson.title:
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
            f"Minutes of step {number + 1}", 1, MOST_MINUTES, step.minutes, key=key, label_visibility="collapsed", width=110
        )  # fmt: skip
        st.markdown("min")
        if minutes != step.minutes:
            keep(steps=(*steps[:number], replace(step, minutes=int(minutes)), *steps[number + 1 :]))
            st.rerun()
        for icon, words, changed in (
            ("arrow_upward", "Earlier", _moved(steps, number, number - 1)),
            ("arrow_downward", "Later", _moved(steps, number, number + 1)),
            ("close", "Remove", (*steps[:number], *steps[number + 1 :])),
        ):
            st.button(
                f"{words}: step {number + 1}", icon=f":material/{icon}:", key=f"teach.{words}.{number}", type="tertiary",
                help=words, on_click=keep, kwargs={"steps": changed}, disabled=changed == steps and words != "Remove",
            )  # fmt: skip


def _moved(steps: tuple[LessonStep, ...], number: int, to: int) -> tuple[LessonStep, ...]:
    if not 0 <= to < len(steps):
        return steps
    order = list(steps)
    order.insert(to, order.pop(number))
    return tuple(order)


def _add(steps: tuple[LessonStep, ...]) -> None:
    """The boxes for one more step: an issue, the lab as one of its presets shows it, or a slide with the teacher's own words. They are
    empty again for each further step."""
    kinds: dict[str, dict[str, Callable[[], LessonStep]]] = {
        ":material/help: Issue": {one.title: partial(LessonStep, one.minutes, slug) for slug, one in ISSUES.items()},
        ":material/science: Lab": {
            **{one.title: partial(lab_step, MINUTES, one.config) for one in PRESETS.values()},
            **{one.title: partial(replace, one) for one in PREPARED.values()},
        },
    }
    names, first = [*kinds, TEXT], next(iter(kinds))
    kind = st.segmented_control("Add a step", names, default=first, required=True, key="teach.kind")
    made: LessonStep | None = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if kind == TEXT:
            title = teachers_words(
                st.text_input("Title of the slide", max_chars=LONGEST_TITLE, key=f"teach.slide.{len(steps)}") or "",
                LONGEST_TITLE,
            )
            text = teachers_words(
                st.text_area("Text", height=100, max_chars=LONGEST_TEXT, key=f"teach.text.{len(steps)}") or "",
                LONGEST_TEXT,
            )
            made = LessonStep(MINUTES_OF_TEXT, slide=Slide(title, text)) if title else None
        else:
            there = kinds[str(kind)]
            chosen = st.selectbox(
                "Which one", list(there), index=None, placeholder="Choose one", key=f"teach.add.{len(steps)}"
            )
            made = there[chosen]() if chosen is not None else None
    wanted = "" if made else "A slide needs a title." if kind == TEXT else "Choose one first."
    if made is not None and not (made.issue or made.guide):
        made, wanted = _ask(made, len(steps))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        missing = f"A lesson has at most {MOST_STEPS} steps." if len(steps) >= MOST_STEPS else wanted
        pressed = st.button("Add", icon=":material/add:", disabled=bool(missing), help=missing or None)
        if pressed and made is not None:
            keep(steps=(*steps, made))
            st.rerun()


def _ask(step: LessonStep, key: int) -> tuple[LessonStep, str]:
    """The boxes for a question of the teacher's own. Return the step, with the question where there is one, and what the question needs."""
    with st.expander("Ask your own question", icon=":material/help:"):
        words = st.text_input("Question", max_chars=LONGEST_QUESTION, key=f"teach.question.{key}") or ""
        answers = [
            column.text_input(f"Answer {number}", max_chars=LONGEST_ANSWER, key=f"teach.answer.{number}.{key}") or ""
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
