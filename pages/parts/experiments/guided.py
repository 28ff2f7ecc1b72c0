"""A prepared step of a lesson for one reader: words, setting, question and buttons on the left, the figure on the right."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from engine.config.run_config import RunConfig, settings_of
from engine.experiments.lessons import Guide
from engine.experiments.question import Direction, Observed, Question
from engine.runs.run import Run
from engine.settings.fields import Setting, to_text
from pages.parts.app.in_markdown import escaped, in_markdown, say_unsaved, setting_help, show_refusal, with_terms
from pages.parts.app.server import find
from pages.parts.app.visitor import mine
from pages.parts.boards.live.board import BoardLayout, Overlay, PanelName, Picture, live_board, overlay
from pages.parts.experiments.handouts import Note, write_down
from pages.parts.experiments.question import UNREAD, ask_here, guess_of, guess_result

RUNS = "guided.runs"  # session key: the id of the run of each prepared step and value, by the name of its guess
GUESS_FIRST = "Guess first. Then you see the result here."


def name_in(visit: str, guide: Guide, config: RunConfig) -> str:
    """The key of the guess and of the run: one for each value of the step's setting. ``visit``: a name for this visit
    of the step."""
    return f"{visit}.{to_text(config.value(guide.vary))}"


def find_run(name: str) -> Run | None:
    return find(_runs().get(name, ""))


def keep_run(name: str, run_id: str) -> None:
    _runs()[name] = run_id


def is_kept(run_id: str) -> bool:
    return run_id in _runs().values()


def _runs() -> dict[str, str]:
    runs: dict[str, str] = st.session_state.setdefault(RUNS, {})
    return runs


def show_guided(
    guide: Guide, visit: str, config: RunConfig, run: Run | None, *, bound: Mapping[str, Any], buttons: Callable[[bool], None],
) -> None:  # fmt: skip
    """Draw the step.

    ``bound`` ties the widget of its setting to the page. ``buttons`` draws those of the run; its argument is True
    once the run has answered a guess.
    """
    name, observed = name_in(visit, guide, config), observed_in(guide.question, run)
    with st.container(key="guided"):
        words, figure = st.columns([1, 1.25], gap="large")
        with figure:
            with st.container():  # a fixed container: otherwise a message would build the board again
                say_unsaved(run)
            _show_figure(guide, visit, config, run)
        with words, st.container(key="guided-words"):
            st.title(guide.title, anchor=False)
            st.markdown("\n\n".join(with_terms(*guide.text)))
            guess = ask_alone(guide.question, name, observed)
            buttons(guess is not None and observed is not None)
            with st.container():  # always there: what comes into it must not replace Train, which may have the focus
                show_refusal()
                if observed is not None and guess is not None:
                    sentence = f"{guess_result(guide.question, guess, observed.right)} {in_words(observed, guide)}"
                    st.markdown(f"{sentence}\n\n{guide.leads_to}")
                    _write_down(name, guide, run, guess, observed)
                elif run is not None and not run.live:
                    st.markdown(f":gray[{GUESS_FIRST if observed else UNREAD}]")
            if _may_choose(guide, visit, config):
                _choose(guide, config, bound)


def observed_in(question: Question, run: Run | None) -> Observed | None:
    return question.observe(run.config, run.events) if run is not None and not run.live else None


def in_words(observed: Observed, guide: Guide | None) -> str:
    return f"{in_markdown(observed.sentence)} {guide.taught_by(observed) if guide else ''}".strip()


def ask_alone(question: Question, name: str, observed: Observed | None) -> Direction | None:
    """Draw the question and return the guess, which closes once the run has answered it."""
    guess = guess_of(name).answer
    st.markdown(f"**{escaped(question.words)}**")
    is_over = guess is not None and observed is not None
    ask_here(question, name, disabled=is_over)
    return guess


def _show_figure(guide: Guide, visit: str, config: RunConfig, run: Run | None) -> None:
    earlier: list[Overlay] = []
    if run is not None and guide.figure == "accuracy":
        others = [find(other) for name, other in _runs().items() if name.startswith(f"{visit}.") and other != run.id]
        earlier = [overlay(one, _label(guide, one.config)) for one in others if one is not None and one.events]
    # The other figures do not show the sequences, so the model stands before them.
    panels: tuple[PanelName, ...] = ("samples",) if guide.figure == "samples" else ("stack", guide.figure)
    picture = Picture(view={"which": "self", "layer": config.n_layers - 1, "head": 0})
    live_board(run or config, BoardLayout(panels, config.task), earlier=earlier, picture=picture)


def _may_choose(guide: Guide, visit: str, config: RunConfig) -> bool:
    has_run = any(name.startswith(f"{visit}.") for name in _runs())
    return has_run or config.value(guide.vary) != guide.settings[guide.vary]


def _choose(guide: Guide, config: RunConfig, bound: Mapping[str, Any]) -> None:
    row = _row(guide, config)
    labels = {value: _label(guide, config.replace(**{guide.vary: value})) for value in guide.values}
    st.segmented_control(
        row.label, list(labels), format_func=labels.__getitem__, required=True, help=setting_help(row.name, row.help), **bound
    )  # fmt: skip


def _row(guide: Guide, config: RunConfig) -> Setting:
    return next(row for row in settings_of(config) if row.name == guide.vary)


def _label(guide: Guide, config: RunConfig) -> str:
    value, words = config.value(guide.vary), _row(guide, config).words(config.value(guide.vary))
    return words.capitalize() if isinstance(value, bool) else words


def _write_down(name: str, guide: Guide, run: Run | None, guess: Direction, observed: Observed) -> None:
    if run is None or not mine(run.owner):
        return
    question, config = guide.question, run.config
    run_sentence = f"{_row(guide, config).label} {_label(guide, config)}, seed {config.seed}, {config.steps} steps."
    result = " ".join([*(f"{question.in_words(one)}." for one in observed.right), observed.sentence])
    write_down(f"{name}.{run.id}", Note(guide.title, question.words, question.in_words(guess), run_sentence, result))
