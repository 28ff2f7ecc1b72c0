"""The lab as a step of a lesson, on one screen: the question, the guess, one figure and what the run says. Shown to a room with the living
picture, or as a prepared step to somebody alone, who trains it and may change one setting."""

import streamlit as st

from engine.config.run_config import RunConfig, settings_of
from engine.experiments.lessons import Guide
from engine.experiments.question import Direction, Observed, Question
from engine.experiments.run_readings import READINGS
from engine.runs.run import Run
from engine.settings.fields import Setting, to_text
from pages.parts.app.in_markdown import escaped, in_markdown, say_unsaved, setting_help, show_refusal, with_terms
from pages.parts.app.recent_runs import shown_run
from pages.parts.app.server import find
from pages.parts.app.visitor import mine
from pages.parts.boards.live.board import Layout, Overlay, PanelName, Picture, live_board, overlay
from pages.parts.experiments.handouts import Note, write_down
from pages.parts.experiments.presenting import Presenting, asks_to_run, guesses_closed, presenting, shows, take_guess
from pages.parts.experiments.projector import show_responses, tell_participants
from pages.parts.experiments.question import UNREAD, ask_here, guess_of, verdict
from pages.parts.lab.form import act, model_of, run_buttons, steering, submit
from pages.parts.lab.state import SETTINGS

RUNS = "lab.runs_of_steps"
"""Session key: the id of the run of each prepared step and value, by the name of its guess."""
GUESS_FIRST = "Guess first: then you see here what the run says."


def show_presented(config: RunConfig, now: Presenting) -> Run | None:
    """The screen at the present beat; returns the run that it shows. The beat "run" trains it, once each time."""
    if asks_to_run(""):
        submit(config)
    run = shown_run() if shows("run") else None
    if run is not None and run.config != config:
        run = None
    with st.container(key="lab-presented"):
        title, question, guide = escaped(now.step.title.removeprefix("Lab: ")), now.step.question, now.step.guide
        st.title(escaped(question.words) if question else title, anchor=False)
        if question and not shows("run"):
            st.caption(f"{title} · {question.sample}")
            if guide:
                st.markdown(" ".join(guide.text))
        observed = _observed(question, run) if question else None
        answered = _show_guesses(now, question, observed) if question is not None and shows("guess") else ""
        show_refusal()
        layout = Layout(
            ("stack", guide.figure if guide else "accuracy"), config.task, room=now.phases[max(0, now.phase)]
        )
        picture = Picture(model_of(config, run.config if run else None), on_act=act)
        live_board(run or config, layout, picture=picture)
        if shows("sentence"):
            told_text = "The sentence comes when the training has ended."
            if observed is not None:
                told_text = _sentence(observed, guide)
            elif run is not None and not run.live:
                told_text = UNREAD
            with st.container(key="lab-taught" if guide else None):
                st.subheader(f"{answered} {told_text}".strip(), anchor=False)
    return run


def _observed(question: Question, run: Run | None) -> Observed | None:
    return question.observe(run.config, run.events) if run is not None and not run.live else None


def _sentence(observed: Observed, guide: Guide | None) -> str:
    """What the run says, and what that teaches."""
    return f"{in_markdown(observed.sentence)} {guide.taught_by(observed) if guide else ''}".strip()


def _show_guesses(now: Presenting, question: Question, observed: Observed | None) -> str:
    """The presenter's guess, which a key chooses, and those of the class; returns what the run says to it."""
    name = f"lab.{now.visit}"
    take_guess(name)
    guess = guess_of(name).answer
    if not shows("run"):
        ask_here(question, name, disabled=guesses_closed())
    right = observed.right if observed is not None else ()
    if observed is not None:
        taught = now.step.guide.taught_by(observed) if now.step.guide else ""
        tell_participants(right, f"{observed.sentence} {taught}".strip())
    if shows("sentence") or not shows("run"):
        show_responses(right)
    return verdict(question, guess, right) if observed is not None and guess is not None else ""


def show_question(run: Run | None) -> None:
    """A teacher's own question to somebody who goes through the lesson alone, and what the run of the step says to the guess."""
    now = presenting()
    question = now.step.question if now is not None else None
    if now is None or question is None or not now.step.teachers_question or now.step.slide:
        return
    observed = _observed(question, run if run is not None and run.config == now.step.config else None)
    with st.container(key="lab-question"):
        guess = _ask_alone(question, f"lab.{now.visit}", observed)
        if observed is not None:
            # What the summary says first stands below in any case.
            told_text = "" if question.decided_by == READINGS["learned"] else in_markdown(observed.sentence)
            st.markdown(f"{verdict(question, guess, observed.right)} {told_text}" if guess is not None else GUESS_FIRST)


def _ask_alone(question: Question, name: str, observed: Observed | None) -> Direction | None:
    """The question, which takes a guess until a guess is told what the run says; returns the guess."""
    guess = guess_of(name).answer
    st.markdown(f"**{escaped(question.words)}**")
    told_text = guess is not None and observed is not None
    ask_here(question, name, disabled=told_text)
    return guess


def run_of_step(config: RunConfig, now: Presenting) -> Run | None:
    """The run of a prepared step with the value that is chosen now: the one that was just started there, or named by a link."""
    runs, run = st.session_state.setdefault(RUNS, {}), shown_run()
    # Two steps may have the same settings: a run of the step before is no answer here.
    if run is not None and run.config == config and run.id not in runs.values():
        runs[_name(config, now)] = run.id
    return find(runs.get(_name(config, now), ""))


def _name(config: RunConfig, now: Presenting) -> str:
    """The name of a guess in a prepared step: each value of its setting has a guess of its own."""
    value = to_text(config.value(now.step.guide.vary)) if now.step.guide else ""
    return f"lab.{now.visit}.{value}"


def show_guided(config: RunConfig, now: Presenting, guide: Guide, run: Run | None) -> None:
    """The screen of a prepared step for somebody alone: its words, control, question and Train at the left, the figure at the right."""
    name, observed = _name(config, now), _observed(guide.question, run)
    with st.container(key="lab-guided"):
        words, figure = st.columns([1, 1.25], gap="large")
        with figure:
            with st.container():  # a fixed container: otherwise a message would make the board anew
                say_unsaved(run)
            _show_figure(config, now, guide, run)
        with words, st.container(key="lab-guided-words"):
            st.title(guide.title, anchor=False)
            st.markdown("\n\n".join(with_terms(*guide.text)))
            _choose(guide, config)
            guess = _ask_alone(guide.question, name, observed)
            run_buttons(run, config)
            with st.popover("More"):
                steering(run, config)
            with st.container():  # always there: what comes into it must not replace Train, which may have the focus
                show_refusal()
                if observed is not None and guess is not None:
                    sentence = f"{verdict(guide.question, guess, observed.right)} {_sentence(observed, guide)}"
                    st.markdown(f"{sentence}\n\n{guide.leads_to}")
                    _write_down(name, guide, run, guess, observed)
                elif run is not None and not run.live:
                    st.markdown(f":gray[{GUESS_FIRST if observed else UNREAD}]")


def _show_figure(config: RunConfig, now: Presenting, guide: Guide, run: Run | None) -> None:
    """The board with its one figure, and above it the model where the figure does not show the sequences themselves. The curves of other
    runs of the step stand behind."""
    earlier: list[Overlay] = []
    if run is not None and guide.figure == "accuracy":
        step = f"lab.{now.visit}."
        others = [
            find(other) for name, other in st.session_state[RUNS].items() if name.startswith(step) and other != run.id
        ]
        earlier = [overlay(one, _label(guide, one.config)) for one in others if one is not None and one.events]
    panels: tuple[PanelName, ...] = ("samples",) if guide.figure == "samples" else ("stack", guide.figure)
    picture = Picture(look={"which": "self", "layer": config.n_layers - 1, "head": 0})
    live_board(run or config, Layout(panels, config.task), earlier=earlier, picture=picture)


def _choose(guide: Guide, config: RunConfig) -> None:
    """The one control of the step."""
    row = _row(guide, config)
    labels = {value: _label(guide, config.replace(**{guide.vary: value})) for value in guide.values}
    st.segmented_control(
        row.label, list(labels), format_func=labels.__getitem__, required=True, help=setting_help(row.name, row.help),
        **SETTINGS.bound(guide.vary, shown=config.value(guide.vary)),
    )  # fmt: skip


def _row(guide: Guide, config: RunConfig) -> Setting:
    return next(row for row in settings_of(config) if row.name == guide.vary)


def _label(guide: Guide, config: RunConfig) -> str:
    """The value that a run of the step has, as a reader sees it."""
    value, words = config.value(guide.vary), _row(guide, config).words(config.value(guide.vary))
    return words.capitalize() if isinstance(value, bool) else words


def _write_down(name: str, guide: Guide, run: Run | None, guess: Direction, observed: Observed) -> None:
    if run is None or not mine(run.owner):
        return
    question, config = guide.question, run.config
    ran = f"{_row(guide, config).label} {_label(guide, config)}, seed {config.seed}, {config.steps} steps."
    found = " ".join([*(f"{question.in_words(one)}." for one in observed.right), observed.sentence])
    write_down(f"{name}.{run.id}", Note(guide.title, question.words, question.in_words(guess), ran, found))
