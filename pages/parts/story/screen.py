"""The screen of a step: its words, the one control, the question and Train at the left, with what the run says; at the right the figure.
After the last one: what the six steps teach, and the hand-in."""

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from engine.config.link import to_query
from engine.experiments.question import Direction, Observed
from engine.experiments.run_readings import score_of
from engine.experiments.story import STEPS
from engine.experiments.story.steps import StoryStep
from engine.foundation.formatting import percent
from engine.runs.run import Run
from engine.settings.fields import to_text
from pages.parts.app.frame import STORY
from pages.parts.app.in_markdown import in_markdown, say_unsaved, setting_help, show_refusal, with_terms
from pages.parts.app.own_runs import say_watching, start_run, steering_button
from pages.parts.app.server import find
from pages.parts.app.visitor import mine
from pages.parts.boards.live.board import Layout, Overlay, PanelName, Picture, live_board, overlay
from pages.parts.charts.attention import weights_image
from pages.parts.stage.handouts import Note, offer_hand_in, write_down
from pages.parts.stage.question import UNREAD, ask, verdict
from pages.parts.story.state import (
    CHOICE,
    SEED,
    SETTINGS,
    Try,
    chosen,
    go_to_step,
    guess,
    put_guess,
    remember,
    run_of_step,
    tries,
)

WIDTH = 150


def show_step(number: int, step: StoryStep, run: Run | None) -> None:
    with st.container(key="story"):
        words, figure = st.columns([1, 1.6], gap="large")
        with figure:
            with st.container():  # a fixed container: otherwise a message would make the board anew
                say_unsaved(run)
            _figure(number, step, run)
        with words, st.container(key="story-words"):
            st.caption(f"{STORY.title} · step {number} of {len(STEPS)}")
            st.title(step.title, anchor=False)
            st.markdown("\n\n".join(with_terms(*step.sentences)))
            going = run is not None and run.live
            _control(step, disabled=going)
            ask_question(number, step, disabled=going)
            _train_or_stop(number, step, run)
            with st.container():  # always there: what comes into it must not replace Train, which may have the focus
                show_refusal()
                said = run is not None and show_feedback(number, step, run)
        with figure:
            _way(number, step, said=said)


def _figure(number: int, step: StoryStep, run: Run | None) -> None:
    """The board with its one figure, and above it the model, with one sequence. Before the first run it shows the untrained model; arcs are
    those of the last layer."""
    # Samples show the data themselves.
    panels: tuple[PanelName, ...] = ("stack", step.figure) if step.figure != "samples" else ("samples",)
    config = run.config if run is not None else step.config(chosen(step), SETTINGS.values()[SEED])
    picture = Picture(look={"which": "self", "layer": config.n_layers - 1, "head": 0})
    earlier = _earlier(number, step, run)
    live_board(run or config, Layout(panels, "story"), earlier=earlier, picture=picture, key="story-board")


def _control(step: StoryStep, *, disabled: bool) -> None:
    labels = {text: step.label_of(value) for text, value in step.choices.items()}
    bound = SETTINGS.bound(CHOICE, disabled=disabled, shown=to_text(chosen(step)))
    st.segmented_control(
        step.row.label, list(labels), format_func=labels.__getitem__, required=True,
        help=setting_help(step.setting, step.row.help), **bound,
    )  # fmt: skip


def _train_or_stop(number: int, step: StoryStep, run: Run | None) -> None:
    own = run is not None and mine(run.owner)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if run is not None and run.live and own:
            steering_button("stop", run, key="story.stop", width=WIDTH)
        else:
            st.button(
                "Train", icon=":material/play_arrow:", type="primary", key="story.train", on_click=_train, args=(number, step),
                width=WIDTH,
            )  # fmt: skip
        if run is not None and not run.live:
            st.button(
                "Another seed", icon=":material/casino:", type="tertiary", key="story.seed", on_click=_another_seed,
                args=(number, step), help="Other first weights and other data: does it come out the same?",
            )  # fmt: skip
        if seed := SETTINGS.values()[SEED]:
            st.caption(f"Seed {seed}", width="content")
    say_watching(run)
    if run is not None and (own or not run.live) and run.config.flat()[step.setting] != chosen(step):
        shown = f"{step.row.label} {step.label_in(run.config)}"
        st.caption(f":material/edit: Shown is the run with {shown}. Train follows your choice.")


def _train(number: int, step: StoryStep) -> None:
    """Train with the present choice; the guess as it is now belongs to this run."""
    if run := start_run(step.config(chosen(step), SETTINGS.values()[SEED])):
        remember(number, Try(run.id, guess(number)))


def _another_seed(number: int, step: StoryStep) -> None:
    SETTINGS.put({SEED: (SETTINGS.values()[SEED] + 1) % 10_000})
    _train(number, step)


def _earlier(number: int, step: StoryStep, run: Run | None) -> Sequence[Overlay]:
    """The other tries of a step, named by their choice: they stand behind the curve of the shown run."""
    if step.figure != "accuracy" or run is None:
        return ()
    found = [find(one.run_id) for one in reversed(tries(number)[:-1])]
    return [overlay(other, step.label_in(other.config)) for other in found if other is not None and other.events]


def _way(number: int, step: StoryStep, *, said: bool) -> None:
    """Back, the sentence that leads on, and Next; at the end what was learned."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="story-way"):
        _go("Back", number - 1, disabled=number == 1)
        st.markdown(step.leads_to if said else "", width="stretch")
        kind: Literal["primary", "secondary"] = "primary" if said else "secondary"
        if number < len(STEPS):
            _go("Next", number + 1, type=kind)
        elif st.button("What you learned", icon=":material/done_all:", type=kind, key="story.end"):
            show_end(step)


@st.dialog("What you learned", width="large")
def show_end(last: StoryStep) -> None:
    """A lesson for each step, as its run taught it; what can be taken along; and three ways on."""
    lessons, own = st.columns([1.3, 1], gap="large")
    for number, step in enumerate(STEPS, start=1):
        run = run_of_step(number)
        observed = step.question.observe(run.config, run.events) if run is not None else None
        lesson = (
            step.lesson_of(observed.right[0]) if observed and observed.right else f":gray[{step.title}: not tried yet.]"
        )
        lessons.markdown(f"{number}. {lesson}")
    with own:
        offer_hand_in()
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        query = to_query(last.config(chosen(last), SETTINGS.values()[SEED]))
        st.page_link("lab.py", label="Open the lab with these settings", icon=":material/science:", query_params=query)
        st.page_link("issues.py", label="The same as experiments, with eight seeds", icon=":material/bug_report:")
        st.page_link("lessons.py", label="Lessons for a class", icon=":material/school:")


def _go(label: Literal["Back", "Next"], to: int, **common: Any) -> None:
    icon = ":material/arrow_back:" if label == "Back" else ":material/arrow_forward:"
    st.button(label, icon=icon, on_click=go_to_step, args=(to,), key=f"story.{label.lower()}", **common)


def ask_question(number: int, step: StoryStep, *, disabled: bool) -> None:
    """The question with its answers. Asked before the run; the guess that a run was started with stays with it."""
    st.markdown(f"**{step.question.words}**")
    ask(
        step.question,
        f"story.guess.{number}",
        guess(number),
        lambda answer: put_guess(number, answer),
        disabled=disabled,
    )
    if step.pictures:
        st.html(pictures(step))


def pictures(step: StoryStep) -> str:
    """The answers as pictures side by side, each with the letter with which its words begin."""
    drawn = "".join(
        f'<figure><figcaption>{words.split(":")[0]}</figcaption><img src="{weights_image(weights)}" alt=""></figure>'
        for weights, words in zip(step.pictures, step.answers, strict=True)
    )
    return f'<div class="story-pictures">{drawn}</div>'


def show_feedback(number: int, step: StoryStep, run: Run) -> bool:
    """What the shown run says, beside the guess that was made before it; returns whether it says anything."""
    observed = step.question.observe(run.config, run.events)
    if observed is None:
        if not run.live:
            st.markdown(f":gray[{UNREAD}]")
        return False
    guessed = tries(number)[-1].guess
    st.markdown(f"{verdict(step.question, guessed, observed.right)} {in_markdown(observed.sentence)}")
    if mine(run.owner):
        _note(number, step, run, guessed, observed)
    if others := tried_so_far(number, step):
        st.caption(others)
    return True


def _note(number: int, step: StoryStep, run: Run, guessed: Direction | None, observed: Observed) -> None:
    question, config = step.question, run.config
    ran = f"{step.row.label} {step.label_in(config)}, seed {config.seed}, {config.steps} steps."
    found = " ".join([*(f"{question.in_words(one)}." for one in observed.right), observed.sentence])
    guess = question.in_words(guessed) if guessed is not None else ""
    write_down(f"story.{number}.{run.id}", Note(f"{STORY.title}: {step.title}", question.words, guess, ran, found))


def tried_so_far(number: int, step: StoryStep) -> str:
    """The accuracies of all finished tries of a step side by side; empty while there is only one."""
    scores: dict[str, float] = {}
    for one in tries(number):
        run = find(one.run_id)
        if run is not None and (score := score_of(run.config, run.events)) is not None:
            seed = f", seed {run.config.seed}" if run.config.seed else ""
            scores[f"{step.label_in(run.config)}{seed}"] = score.value
    told = " · ".join(f"{name} {percent(value)}" for name, value in scores.items())
    return f"{step.row.label}, right answers: {told}" if len(scores) > 1 else ""
