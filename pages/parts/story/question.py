"""The question of a step, and what the run says about it."""

from __future__ import annotations

from base64 import b64encode

import numpy as np
import streamlit as st

from engine.experiments.story.questions import Observed, Question, percent
from engine.experiments.story.readings import score_of
from engine.experiments.story.steps import Step
from engine.runs.run import Run
from pages.parts.app.server import find
from pages.parts.charts.colors import POSITIVE
from pages.parts.story.state import guess, put_guess, tries


def ask_question(number: int, question: Question, *, disabled: bool) -> None:
    """The question with its answers. Asked before the run; the guess that a run was started with stays with it."""
    key = f"story.guess.{number}"
    if key not in st.session_state:
        st.session_state[key] = guess(number)
    st.radio(
        question.text, list(question.answers), format_func=question.answers.__getitem__, index=None, key=key,
        disabled=disabled, on_change=lambda: put_guess(number, st.session_state[key]),
    )  # fmt: skip
    if question.pictures:
        st.html(pictures(question))


def pictures(question: Question) -> str:
    """The answers as pictures side by side, each with the letter with which its words begin."""
    drawn = "".join(
        f'<figure><figcaption>{words.split(":")[0]}</figcaption><img src="{_picture(question.pictures[name])}" alt=""></figure>'
        for name, words in question.answers.items()
    )
    return f'<div class="story-pictures">{drawn}</div>'


def _picture(weights: np.ndarray) -> str:
    """Weights [query, key] as squares, in the address of an image. The words of the answer say the same."""
    rows, columns = weights.shape
    cells = "".join(
        f'<rect x="{key}" y="{query}" width="1" height="1" fill-opacity="{weights[query, key]:.2f}"/>'
        for query in range(rows)
        for key in range(columns)
    )
    drawn = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns} {rows}" fill="{POSITIVE}">{cells}</svg>'
    return f"data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}"


def show_feedback(number: int, step: Step, run: Run) -> bool:
    """What the shown run says, beside the guess that was made before it; returns whether it says anything."""
    observed = step.question.observe(run.config, run.events)
    if observed is None:
        if not run.live:
            st.markdown(":gray[This run did not finish, so it answers nothing.]")
        return False
    st.markdown(feedback(step.question, tries(number)[-1].guess, observed))
    if others := tried_so_far(number, step):
        st.caption(others)
    return True


def feedback(question: Question, guessed: str | None, observed: Observed) -> str:
    """What was guessed beside what came out, and the numbers behind it, in Markdown."""
    right = question.answers[observed.answer]
    if guessed is None:
        said = f"The run says: **{right}**."
    elif guessed == observed.answer:
        said = f":green[:material/check:] You said: *{right}*. **Right.**"
    else:
        said = f":orange[:material/close:] You said: *{question.answers[guessed]}*. The run says: **{right}**."
    return f"{said} {observed.sentence}"


def tried_so_far(number: int, step: Step) -> str:
    """The accuracies of all finished tries of a step side by side; empty while there is only one."""
    scores: dict[str, float] = {}
    for one in tries(number):
        run = find(one.run_id)
        score = score_of(run.config, run.events) if run is not None else None
        if run is not None and score is not None:
            seed = f", seed {run.config.seed}" if run.config.seed else ""
            scores[f"{step.label_of(run.config.flat()[step.setting])}{seed}"] = score.value
    if len(scores) < 2:
        return ""
    return f"{step.row.label}, right answers: " + " · ".join(
        f"{name} {percent(value)}" for name, value in scores.items()
    )
