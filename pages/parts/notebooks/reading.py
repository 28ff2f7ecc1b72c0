"""The overview of all notebooks; and one of them: its contents, the download, each step with its text, its code, and below the code its
stored outputs (text, numbers beside the given ones, figures)."""

import re
from itertools import groupby

import streamlit as st

from engine.notebooks import NOTEBOOKS, Notebook
from engine.notebooks.cells import Cell, NotebookStep
from pages.parts.app.in_markdown import escaped
from pages.parts.boards.panels import panels
from pages.parts.notebooks import state
from pages.parts.notebooks.figures import panel_of

GIVEN = re.compile(r"^(?P<what>.+): given (?P<given>.+), here (?P<here>.+)$")
"""A line that compares a number with the given one."""


# The overview


def show_overview() -> None:
    st.title("Notebooks", anchor=False)
    st.markdown(
        "The classic small exercises, step by step: read the code and what it gives. Each one can be downloaded as a Jupyter notebook "
        "that runs by itself."
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
    return f"{len([step for step in notebook.steps if step.code])} steps"


# One of them


def show_side(notebook: Notebook) -> None:
    with st.container(key="notebooks-side"):
        st.download_button(
            "Jupyter notebook", notebook.file.read_bytes, notebook.file.name, "application/x-ipynb+json",
            icon=":material/download:", key="notebooks.download", on_click="ignore",
            help="The same cells and outputs as an .ipynb file, which runs by itself.",
        )  # fmt: skip
        st.caption(f"Run with {notebook.made}.")
        with st.container(key="notebooks-contents", gap="xsmall"):
            lines = [f"[{step.number}. {step.title}](#{anchor(step)})" for step in notebook.steps[1:]]
            st.markdown("  \n".join(lines))


def show_notebook_step(notebook: Notebook, step: NotebookStep) -> None:
    st.header(f"{step.number}. {step.title}", anchor=anchor(step))
    for cell in step.cells:
        if cell.kind == "markdown":
            st.markdown(cell.source)
        else:
            st.code(cell.source, language="python", wrap_lines=True)
            show_outputs(cell, notebook.slug)


def anchor(step: NotebookStep) -> str:
    return f"step-{step.number}"


def show_outputs(cell: Cell, name: str) -> None:
    """Show the outputs of a cell. ``name`` is a part of the names of downloads."""
    show_text(cell.text)
    if cell.figures:
        items = [panel_of(drawn, f"cell-{cell.number}.{place}") for place, drawn in enumerate(cell.figures)]
        panels(items, key=f"notebooks.board.{name}.{cell.number}", name=name)
    if cell.asserts:
        st.markdown(f":green[:material/check_circle:] {escaped(cell.asserts)}")


def show_text(text: str) -> None:
    """Printed lines as they are; lines that compare with a given number as a table."""
    printed = text.rstrip("\n").split("\n") if text.strip() else []
    for compares, lines in groupby(printed, lambda line: bool(GIVEN.match(line))):
        if compares:
            rows = [found.groupdict() for line in lines if (found := GIVEN.match(line))]
            cells = [f"|{row['what'].capitalize()}|{row['given']}|**{row['here']}**|" for row in rows]
            st.markdown("\n".join(["|Number|given|here|", "|---|---:|---:|", *cells]))
        else:
            st.code("\n".join(lines), language=None, wrap_lines=True)
