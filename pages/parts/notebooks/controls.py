"""The overview of all notebooks, and the controls of one: run, stop, start over, progress, the state of all steps, the download."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from engine.foundation.formatting import in_time
from engine.notebooks import NOTEBOOKS, Notebook
from engine.notebooks.ipynb import to_ipynb
from engine.notebooks.player import Play
from engine.notebooks.players import NONE_HERE
from pages.parts.app.in_markdown import show_refusal
from pages.parts.app.visitor import mine
from pages.parts.notebooks.state import (
    NOTEBOOK_PAGE,
    PAGE,
    PLAYERS,
    forget,
    play_of,
    run_to,
    state_badge,
    step_state,
    stop,
)
from pages.parts.notebooks.steps import TICK, anchor

COUNTED = re.compile(r"(\d+) of (\d+)")
"""The form in which a cell prints its progress."""


def show_overview() -> None:
    st.title("Notebooks", anchor=False)
    st.markdown(
        f"The classic small exercises, step by step: read the code, run it{' here' if PLAYERS.allowed else ''}, see the tests turn "
        "green. Each one can be downloaded as a Jupyter notebook that runs by itself."
    )
    for place, notebook in enumerate(NOTEBOOKS.values(), start=1):
        with st.container(border=True, gap="xsmall", key=f"notebooks-card-{notebook.slug}"):
            st.page_link(
                NOTEBOOK_PAGE, label=f"**{place}. {notebook.title}**", query_params={"notebook": notebook.slug}
            )
            st.markdown(notebook.learns)
            st.caption(f"{_steps(notebook)} · about {notebook.minutes} minutes")


def show_neighbours(notebook: Notebook, where: str) -> None:
    """Links to the notebooks before and after this one, and from the end of the page to the overview."""
    others = list(NOTEBOOKS.values())
    place = others.index(notebook)
    with st.container(horizontal=True, gap="small", key=f"notebooks-ways-{where}"):
        if where == "bottom":
            st.page_link(PAGE, label="All notebooks", icon=":material/apps:")
        for icon, found in (
            (":material/arrow_back:", others[:place][-1:]),
            (":material/arrow_forward:", others[place + 1 :][:1]),
        ):
            for other in found:
                st.page_link(NOTEBOOK_PAGE, label=other.title, icon=icon, query_params={"notebook": other.slug})


def _steps(notebook: Notebook) -> str:
    steps = [step for step in notebook.steps if step.code]
    play = play_of(notebook)
    if play is None:
        return f"{len(steps)} steps{' to run' if PLAYERS.allowed else ''}"
    passed = sum(step_state(step, play) == "passed" for step in steps)
    return f"{state_badge('passed' if passed == len(steps) else 'not run')} {passed} of {len(steps)} steps passed"


STYLE = Path(__file__).parent / "notebooks.css"


def show_side(notebook: Notebook, play: Play | None) -> None:
    st.html(STYLE)
    with st.container(key="notebooks-side"):
        _show_buttons(notebook, play)
        show_refusal(show=st.warning)
        if play is not None:
            st.fragment(_show_progress, run_every=TICK if play.state == "running" else None)(play, play_mark(play))
        with st.container(key="notebooks-contents", gap="xsmall"):
            icons = [
                state_badge(step_state(step, play)) if step.code else ":material/notes:" for step in notebook.steps[1:]
            ]
            titles = [f"[{step.number}. {step.title}](#{anchor(step)})" for step in notebook.steps[1:]]
            lines = [f"{icon} {title}" for icon, title in zip(icons, titles, strict=True)]
            st.markdown("  \n".join(lines))


def _show_buttons(notebook: Notebook, play: Play | None) -> None:
    own = play if play is not None and mine(play.owner) else None
    running = own is not None and own.state == "running"
    if not PLAYERS.allowed:
        st.info(NONE_HERE, icon=":material/info:")
    last = max(cell.number for cell in notebook.cells if cell.kind == "code")
    with st.container(horizontal=True, gap="small"):
        if running:
            st.button("Stop", icon=":material/stop:", on_click=stop, args=(notebook,), key="notebooks.stop")
        elif PLAYERS.allowed:
            st.button(
                "Run all" if own is None or own.state == "ended" else "Run the rest", icon=":material/play_arrow:",
                type="primary", on_click=run_to, args=(notebook, last), key="notebooks.all",
            )  # fmt: skip
        st.button(
            "Clear", icon=":material/restart_alt:", on_click=forget, args=(notebook,), disabled=play is None or running,
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
    if play_mark(play) != shown:
        st.rerun()
    code = [cell for cell in play.notebook.cells if cell.kind == "code"]
    passed = sum(outcome.state == "passed" for outcome in play.outcomes.values())
    share = within(play)
    if play.state == "running":
        asked = sum(cell.number <= play.until for cell in code)
        left = f", this cell about {in_time(play.cell_seconds * (1 - share) / share)} more" if share else ""
        st.progress(min(1.0, (passed + share) / asked), f"{passed} of {asked} cells{left}")
    elif play.why_ended:
        st.info(play.why_ended, icon=":material/info:")
    else:
        words = {"waiting": "It goes on from here.", "ended": ""}[play.state]
        st.caption(f"{passed} of {len(code)} cells passed. {words}")


def within(play: Play) -> float:
    """The share of the running cell that is done, as far as its last line tells."""
    cell = play.running_cell
    if cell is None:
        return 0.0
    counted = COUNTED.findall(play.outcomes[cell].text.rpartition("\n")[0].rpartition("\n")[2])
    done, of = (int(number) for number in counted[-1]) if counted else (0, 1)
    return done / of if 0 < done <= of else 0.0
