from dataclasses import asdict

import streamlit as st

from engine.config.presets import PRESETS, PresetView
from engine.config.run_config import RunConfig
from engine.runs.run import Run
from engine.settings.errors import ConfigError
from engine.tasks import TASKS
from pages.parts.app.in_markdown import as_code, in_markdown, say_ignored, say_unsaved, show_refusal
from pages.parts.app.recent_runs import in_step_with, show_facts, show_run, shown_run
from pages.parts.app.server import find
from pages.parts.app.turn import let_others_go
from pages.parts.boards.live.board import ALL, BoardLayout, PanelName, Picture, RecordedRun, live_board, top_panels
from pages.parts.boards.live.readable_run import controlled_as
from pages.parts.boards.recorded import FOLDERS, RECORDED, recorded_with
from pages.parts.experiments.presenting import presenting
from pages.parts.lab.apart import show_apart
from pages.parts.lab.apart_state import apart_message, take_apart
from pages.parts.lab.form import (
    act,
    main_settings,
    model_of,
    more_in_words,
    other_settings,
    run_buttons,
    show_open_group,
    stay_open,
    steering,
)
from pages.parts.lab.presented import run_of_step, show_guided, show_presented, show_question
from pages.parts.lab.results import (
    note_link_origin,
    overlays_behind,
    reference_behind,
    say,
    share,
    show_beside,
    show_lengths,
    show_link_origin,
    show_recent_runs,
    show_run_files,
)
from pages.parts.lab.state import PRESET, RUN, SETTINGS, WATCHED, address, form_config
from pages.parts.lab.text import find_levels, known_levels, show_counting, show_prompt

DEFAULT_VIEW = PresetView("accuracy")
FIRST_PANELS: tuple[PanelName, ...] = ("accuracy", "pattern", "loss", "encoding")
FIRST_PANELS_OF_TEXT: tuple[PanelName, ...] = ("loss", "pattern", "written", "encoding")
MORE_FIGURES = ("accuracy", "attention", "similarity", "gradients", "memory")
MORE = "lab.more"


def show_lab(run: Run | None, config: RunConfig | None, unfit: str) -> None:
    """Show the lab. ``config`` is None where the values of the form contradict each other, for the reason ``unfit``."""
    visible_run = run or recorded_for(config, apart=bool(apart_message()["open"]))
    slug = st.session_state.get(WATCHED)
    preset = PRESETS[slug] if slug in PRESETS and config == PRESETS[slug].config else None
    with st.container(key="frame-unseen"):  # for screen readers: the page has no room for a title
        st.title("Lab", anchor=False)
    show_link_origin()
    st.html(f"<style>.st-key-top-panels-lab {{ --layers: {config.n_layers if config else 1} }}</style>")
    top_panels("lab")  # the picture of the model
    apart = st.container(key="lab-apart")  # analyses of the head that is selected in the picture
    with st.container(key="lab-page"):  # the style sheet places these, also on a phone
        with st.container(key="lab-left"):
            train, main, rest = (st.container(key=f"lab-{name}") for name in ("train", "main", "rest"))
        with st.container(key="lab-right"):
            above = st.container(key="lab-above")
            with st.container(key="lab-written"):
                write = show_prompt(run)
            board = st.container(key="lab-board")

    with above:  # before the form, so that the board learns of a new run first
        show_refusal()
        say_unsaved(run)
        show_question(run)
        say(run, config, preset, recorded=visible_run is not run)
    with board:
        view = preset.view if preset else DEFAULT_VIEW
        live_board(
            run or (RecordedRun(visible_run) if visible_run else config),
            layout(visible_run, config, view),
            earlier=[*overlays_behind(run), *reference_behind(run.config.task)] if run else [],
            picture=Picture(
                model_of(config, visible_run.config if visible_run else None) if config else None,
                asdict(view),
                apart_message(),
                act,
            ),
        )
        let_others_go()  # the curve is sent; a class that presses Train at once waits for it first
        show_counting(visible_run)
        if run is not None:
            show_beside(run)
            show_lengths(run)

    with train:
        run_buttons(run, config)
        if unfit:
            st.error(unfit, icon=":material/error:")
    with main:
        show_open_group()
        main_settings()
    with rest:
        stay_open(MORE)
        everything = st.expander(more_in_words(), icon=":material/tune:", key=MORE, on_change="rerun")
        if everything.open:  # else every click would wait for fifty widgets
            with everything:
                show_more(run, config)
        if run is not None and config is not None:  # else the sentence above has them
            show_facts(config)
    with apart:  # late, because its figures take time to compute
        show_apart(visible_run, config)
    write()
    find_levels(run)


def recorded_for(config: RunConfig | None, *, apart: bool) -> Run | None:
    """Return the recorded run of the form's settings. A run of seconds is used only where it is taken ``apart``: until
    then the page has the untrained model, which the visitor can train."""
    return recorded_with(config) if apart or (config and TASKS[config.task].corpus) else None


def layout(run: Run | None, config: RunConfig | None, view: PresetView) -> BoardLayout:
    """Return a layout with the preset's panel after the picture, and with the panels of :data:`MORE_FIGURES` folded."""
    drawn = run.config if run else config or RunConfig()
    first = [one for one in ALL if one == view.panel]
    usual = FIRST_PANELS_OF_TEXT if TASKS[drawn.task].corpus else FIRST_PANELS
    panels: dict[PanelName, None] = dict.fromkeys(("stack", *first, *usual, *ALL))
    names = [name for name in panels if drawn.architecture.attends or name not in ("pattern", "attention")]
    folded = [name for name in MORE_FIGURES if name not in (*first, *usual)]
    return BoardLayout(names, run.config.task if run else "", known_levels(run), top_panels="lab", folded=folded)


def show_more(run: Run | None, config: RunConfig | None) -> None:
    steering(run, config)
    other_settings()
    if run is not None:
        show_recent_runs(run)
        show_run_files(run)
    if config is not None:
        share(run, config)


link, ignored = SETTINGS.open_address()
if (linked_run := link.get(RUN, RECORDED)) not in FOLDERS:  # of a recorded run the form has the settings
    if (server_run := find(linked_run)) is None:
        notice = f"run is {as_code(linked_run)}; this server has no such run. The settings stay the same."
        st.warning(notice, icon=":material/search_off:")
    else:
        show_run(server_run.id)
if link.get(PRESET) in PRESETS:
    st.session_state[WATCHED] = link[PRESET]
say_ignored(ignored)
say_ignored(note_link_origin(link))
say_ignored(take_apart(link))

run = shown_run()
config: RunConfig | None = None
unfit = ""
try:
    config = form_config()
except ConfigError as error:
    unfit = in_markdown(error)

presentation = presenting()
if config is not None and presentation is not None and presentation.on and not presentation.step.issue:
    SETTINGS.write_address(address(show_presented(config, presentation)))
elif (
    config is not None
    and presentation is not None
    and (guide := presentation.step.guide)
    and presentation.step.covers(config)
):
    run = run_of_step(config, presentation)
    with in_step_with(lambda: controlled_as(run)):
        show_guided(config, presentation, guide, run)
        SETTINGS.write_address(address(run))
else:
    with in_step_with(lambda: (controlled_as(run), known_levels(run))):
        show_lab(run, config, unfit)
        SETTINGS.write_address(address(run))
