"""The overview of all notebooks; and one of them: its controls, progress, the state of all steps, the download, each step with its text,
its code, and below the code its outputs (text, numbers beside the given ones, figures, an error)."""

import re
from itertools import groupby

import streamlit as st

from engine.foundation.formatting import in_time
from engine.notebooks import NOTEBOOKS, Notebook
from engine.notebooks.cells import Cell, NotebookStep
from engine.notebooks.ipynb import to_ipynb
from engine.notebooks.player import Outcome, Play
from engine.notebooks.players import NONE_HERE
from pages.parts.app.fragment import as_fragment
from pages.parts.app.in_markdown import escaped, show_refusal
from pages.parts.app.visitor import mine
from pages.parts.boards.panels import panels
from pages.parts.notebooks import state
from pages.parts.notebooks.figures import panel_of

COUNTED = re.compile(r"(\d+) of (\d+)")
"""The form in which a cell prints its progress."""
GIVEN = re.compile(r"^(?P<what>.+): given (?P<given>.+), here (?P<here>.+)$")
"""A line that compares a number with the given one."""
TICK = 0.5
"""Seconds between two checks of the running cell."""


# The overview


def show_overview() -> None:
    st.title("Notebooks", anchor=False)
    st.markdown(
        f"The classic small exercises, step by step: read the code, run it{' here' if state.PLAYERS.allowed else ''}, see the tests turn "
        "green. Each one can be downloaded as a Jupyter notebook that runs by itself."
    )
    for place, notebook in enumerate(NOTEBOOKS.values(), start=1):
        with st.container(border=True, gap="xsmall", key=f"notebooks-card-{notebook.slug}"):
            title, query = f"**{place}. {notebook.title}**", {"notebook": notebook.slug}
            st.page_link(state.NOTEBOOK_PAGE, label=title, query_params=query)
            st.markdown(notebook.learns)
            st.caption(f"{_steps(notebook)} · about {notebook.minutes} minutes")


def show_neighbours(notebook: Notebook) -> None:
    """Links from the end of the page to the overview, and to the notebooks before and after this one."""
    others = list(NOTEBOOKS.values())
    place = others.index(notebook)
    with st.container(horizontal=True, gap="small", key="notebooks-ways"):
        st.page_link(state.PAGE, label="All notebooks", icon=":material/apps:")
        for icon, at in ((":material/arrow_back:", place - 1), (":material/arrow_forward:", place + 1)):
            if 0 <= at < len(others):
                title, query = others[at].title, {"notebook": others[at].slug}
                st.page_link(state.NOTEBOOK_PAGE, label=title, icon=icon, query_params=query)


def _steps(notebook: Notebook) -> str:
    steps = [step for step in notebook.steps if step.code]
    play = state.play_of(notebook)
    if play is None:
        return f"{len(steps)} steps{' to run' if state.PLAYERS.allowed else ''}"
    passed = sum(state.step_state(step, play) == "passed" for step in steps)
    return f"{state.state_badge('passed' if passed == len(steps) else 'not run')} {passed} of {len(steps)} steps passed"


# The controls of one


def show_side(notebook: Notebook, play: Play | None) -> None:
    with st.container(key="notebooks-side"):
        _show_buttons(notebook, play)
        show_refusal(show=st.warning)
        if play is not None:
            as_fragment(_show_progress, play, play_mark(play), every=TICK if play.state == "running" else None)
        with st.container(key="notebooks-contents", gap="xsmall"):
            lines = []
            for step in notebook.steps[1:]:
                icon = state.state_badge(state.step_state(step, play)) if step.code else ":material/notes:"
                lines.append(f"{icon} [{step.number}. {step.title}](#{anchor(step)})")
            st.markdown("  \n".join(lines))


def _show_buttons(notebook: Notebook, play: Play | None) -> None:
    own = play if play is not None and mine(play.owner) else None
    running = own is not None and own.state == "running"
    if not state.PLAYERS.allowed:
        st.info(NONE_HERE, icon=":material/info:")
    last = max(cell.number for cell in notebook.cells if cell.kind == "code")
    with st.container(horizontal=True, gap="small"):
        if running:
            st.button("Stop", icon=":material/stop:", on_click=state.stop, args=(notebook,), key="notebooks.stop")
        elif state.PLAYERS.allowed:
            label, icon = "Run all" if own is None or own.state == "ended" else "Run the rest", ":material/play_arrow:"
            args = (notebook, last)
            st.button(label, icon=icon, type="primary", on_click=state.run_to, args=args, key="notebooks.all")
        st.button(
            "Clear", icon=":material/restart_alt:", on_click=state.forget, args=(notebook,), disabled=play is None or running,
            key="notebooks.clear", help="Put the outputs away; the next run starts from the first step.",
        )  # fmt: skip
        st.download_button(
            "Jupyter notebook", lambda: to_ipynb(notebook), f"{notebook.slug}.ipynb", "application/x-ipynb+json",
            icon=":material/download:", key="notebooks.download", on_click="ignore",
            help="The same cells as an .ipynb file, which runs by itself.",
        )  # fmt: skip


def play_mark(play: Play) -> tuple[object, ...]:
    """The state of a play, apart from the text of the running cell; when it changes, the script is rerun."""
    return play.state, len(play.outcomes), play.running_cell


def _show_progress(play: Play, shown: tuple[object, ...]) -> None:
    play.look()
    state_now = play.state
    if play_mark(play) != shown:
        st.rerun()
    code = [cell for cell in play.notebook.cells if cell.kind == "code"]
    passed = sum(outcome.state == "passed" for outcome in play.outcomes.values())
    share = within(play)
    if state_now == "running":
        asked = sum(cell.number <= play.until for cell in code)
        left = f", this cell about {in_time(play.cell_seconds * (1 - share) / share)} more" if share else ""
        st.progress(min(1.0, (passed + share) / asked), f"{passed} of {asked} cells{left}")
    elif play.why_ended:
        st.info(play.why_ended, icon=":material/info:")
    else:
        words = {"waiting": "It goes on from here.", "ended": ""}[state_now]
        st.caption(f"{passed} of {len(code)} cells passed. {words}")


def within(play: Play) -> float:
    """The share of the running cell that is done, as far as its last line tells."""
    if (cell := play.running_cell) is None:
        return 0.0
    counted = COUNTED.findall(play.outcomes[cell].text.rpartition("\n")[0].rpartition("\n")[2])
    done, of = (int(number) for number in counted[-1]) if counted else (0, 1)
    return done / of if 0 < done <= of else 0.0


# Its steps


def show_notebook_step(notebook: Notebook, step: NotebookStep, play: Play | None) -> None:
    st.header(f"{step.number}. {step.title}", anchor=anchor(step))
    if step.code and state.PLAYERS.allowed:
        show_state(notebook, step, play)
    for cell in step.cells:
        if cell.kind == "markdown":
            st.markdown(cell.source)
        else:
            st.code(cell.source, language="python", wrap_lines=True)
            if play is not None and (outcome := play.outcomes.get(cell.number)) is not None:
                if outcome.state == "running":
                    as_fragment(_follow, play, cell, every=TICK)
                else:
                    show_outcome(cell, outcome, notebook.slug)


def show_state(notebook: Notebook, step: NotebookStep, play: Play | None) -> None:
    now, last = state.step_state(step, play), step.code[-1].number
    asked_for = play is not None and play.state != "ended" and play.until >= last
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        icon, color = state.STATES[now]
        st.badge(now, icon=icon, color=color)
        key, icon, args = f"notebooks.run.{notebook.slug}.{step.number}", ":material/play_arrow:", (notebook, last)
        st.button("Run to here", key, None, state.run_to, args, icon=icon, type="tertiary", disabled=asked_for)


def anchor(step: NotebookStep) -> str:
    return f"step-{step.number}"


def _follow(play: Play, cell: Cell) -> None:
    """The text of the running cell as it is printed."""
    outcome = play.outcomes[cell.number]
    show_text(outcome.text)
    st.caption(f":material/hourglass_top: Running for {play.cell_seconds:.0f} s")


def show_outcome(cell: Cell, outcome: Outcome, name: str) -> None:
    """Show the outputs of a cell. ``name`` is a part of the names of downloads."""
    show_text(outcome.text)
    if outcome.figures:
        items = [panel_of(drawn, f"cell-{cell.number}.{place}") for place, drawn in enumerate(outcome.figures)]
        panels(items, key=f"notebooks.board.{name}.{cell.number}", name=name)
    if outcome.state == "failed":
        where = f"Line {outcome.line}. " if outcome.line else ""
        st.error(f"{where}{escaped(outcome.error)}", icon=":material/cancel:")
    if cell.asserts:
        st.markdown(f"{state.state_badge(outcome.state)} {escaped(cell.asserts)}")


def show_text(text: str) -> None:
    """Printed lines as they are; lines that compare with a given number as a table."""
    printed = text.rstrip("\n").split("\n") if text.strip() else []
    for compares, lines in groupby(printed, lambda line: bool(GIVEN.match(line))):
        if compares:
            rows = [found.groupdict() for line in lines if (found := GIVEN.match(line))]
            cells = [f"|{row['what'].capitalize()}|{row['given']}|**{row['here']}**|" for row in rows]
            st.markdown("\n".join(["||given|here|", "|---|---:|---:|", *cells]))
        else:
            st.code("\n".join(lines), language=None, wrap_lines=True)
