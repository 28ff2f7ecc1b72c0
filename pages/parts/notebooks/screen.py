from __future__ import annotations

import math
import re
from itertools import groupby
from types import MappingProxyType
from typing import Annotated, Any

import plotly.graph_objects as go
import streamlit as st

from engine.settings.errors import Problem
from engine.settings.names import resolve_name
from pages.parts.app.in_markdown import escaped
from pages.parts.app.page_state import ModelSettings, PageState, one_of
from pages.parts.boards.component import Json
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.base import across_line, axis, color_bar, figure
from pages.parts.charts.colors import BLUE, MAGENTA, MUTED, ORANGE, TEAL, VIOLET, diverging, sequential, shade
from pages.parts.notebooks.cells import Cell, NotebookStep
from pages.parts.notebooks.notebook import NOTEBOOKS, Notebook

PAGE = "notebooks.py"


class NotebookState(PageState):
    REMOVED = MappingProxyType(
        {"play": "Cells no longer run in the app. You see stored outputs; the download runs anywhere."}
    )

    notebook: Annotated[str | None, one_of(NOTEBOOKS)] = None


class NotebookSettings(ModelSettings[NotebookState]):
    def open_address(self) -> tuple[dict[str, str], list[Problem]]:
        """The address always determines the notebook: a link to the overview is empty."""
        link, ignored = super().open_address()
        slug = resolve_name(st.query_params.get("notebook", ""), NOTEBOOKS)
        self.put({"notebook": slug if slug in NOTEBOOKS else None})
        return link, ignored

    def notebook(self) -> Notebook | None:
        return NOTEBOOKS.get(self.values()["notebook"])


SETTINGS = NotebookSettings("notebook", NotebookState)


# A notebook's figure in the app's style: its data, titles and levels; the app's colours and axes


# per trace in order; the traces of a legend group share one
LINES = (BLUE, ORANGE, TEAL, VIOLET, MAGENTA, MUTED["light"])


def panel_of(drawn: Json, name: str) -> Panel:
    layout = drawn["layout"]
    title = str(_text(layout.get("title")))
    is_matrix = any(trace["type"] == "heatmap" for trace in drawn["data"])
    return Panel(
        id=name, title=title, figure=_house(drawn), alt=f"{title}. {figure_in_words(drawn)}", height=340 if is_matrix else 300
    )  # fmt: skip


def figure_in_words(drawn: Json) -> str:
    return " ".join(_trace_in_words(trace) for trace in drawn["data"])


def _trace_in_words(trace: Json) -> str:
    if trace["type"] == "heatmap":
        values = [value for row in trace["z"] for value in row]
        return f"{len(trace['z'])} rows of {len(trace['z'][0])} cells, from {min(values):.3g} to {max(values):.3g}."
    if trace["type"] == "histogram":
        return f"{trace['name']}: {len(trace['x'])} values from {min(trace['x']):.3g} to {max(trace['x']):.3g}."
    x, y = trace["x"], trace["y"]
    return f"{trace.get('name', 'values')}: {y[0]:.3g} at {x[0]}, {y[-1]:.3g} at {x[-1]}."


def _house(drawn: Json) -> go.Figure:
    layout, colors = drawn["layout"], dict[str, str]()
    traces = []
    for number, trace in enumerate(drawn["data"]):
        group = trace.get("legendgroup") or f"{number}"
        traces.append(_coloured(trace, colors.setdefault(group, LINES[len(colors) % len(LINES)])))
    axes: Json = {}
    for name in ("xaxis", "yaxis"):
        settings = dict(layout.get(name, {}))
        axes[name] = axis(str(_text(settings.pop("title", ""))), **settings)
    shapes = [
        across_line("y", shape["y0"], shape.get("label", {}).get("text", "")) for shape in layout.get("shapes", [])
    ]
    bar_mode = {"barmode": layout["barmode"]} if "barmode" in layout else {}
    return figure(traces, shapes=shapes, showlegend=len(colors) > 1, **axes, **bar_mode)


def _coloured(trace: Json, color: str) -> Json:
    pair = shade(color)
    if trace["type"] == "heatmap":
        lowest = min(value for row in trace["z"] for value in row if math.isfinite(value))
        around_zero = {} if lowest >= 0 else {"zmid": 0}
        scale = diverging() if lowest < 0 else sequential(LINES[0])
        bar = color_bar(_text(trace.get("colorbar", {}).get("title")))
        rows, columns = (list(range(len(cells))) for cells in (trace["z"], trace["z"][0]))
        meta = {"scale": scale, "rows": {"row": rows}, "columns": {"column": columns}}
        drawn = {"colorbar": bar, "meta": meta, "colorscale": scale["light"]}
        return trace | around_zero | drawn | {"hovertemplate": "row %{y}, column %{x}: %{z:.3g}<extra></extra>"}
    if trace["type"] == "histogram":
        return trace | {"marker": {"color": pair["light"]}, "meta": {"color": pair}}
    house = {"meta": {"color": pair}, "hovertemplate": "%{y:.4g}"}
    if trace["type"] == "bar":
        return trace | house | {"marker": {"color": pair["light"]}}
    house |= {"mode": trace.get("mode", "lines"), "line": {"color": pair["light"], "width": 2} | trace.get("line", {})}
    if "markers" in trace.get("mode", ""):
        house["marker"] = trace.get("marker", {}) | {"color": pair["light"]}
    return trace | house


def _text(title: Any) -> Any:
    """Return the text of a title, which Plotly takes as text or as a mapping."""
    return title.get("text", "") if isinstance(title, dict) else title or ""


# The page


WIDTH = 800  # pixels of a line of text or code
# a line that compares a number with a given one
COMPARISON_LINE = re.compile(r"^(?P<what>.+): given (?P<given>.+), here (?P<here>.+)$")


def show_overview() -> None:
    st.title("Notebooks", anchor=False)
    st.markdown("Classic exercises, step by step, with code and outputs. You can download each as a Jupyter notebook.")
    for number, notebook in enumerate(NOTEBOOKS.values(), start=1):
        with st.container(border=True, gap="xsmall", key=f"notebooks-card-{notebook.slug}"):
            title, query = f"**{number}. {notebook.title}**", {"notebook": notebook.slug}
            st.page_link(PAGE, label=title, query_params=query)
            st.markdown(notebook.learns)
            st.caption(f"{len(notebook.steps) - 1} steps · {notebook.minutes} minutes")


def show_notebook(notebook: Notebook) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="notebooks-ways"):
        st.page_link(PAGE, label="All notebooks", icon=":material/arrow_back:")
        with st.popover("Contents", icon=":material/toc:", type="tertiary"):
            st.markdown("  \n".join(f"[{step.number}. {step.title}](#{anchor(step)})" for step in notebook.steps[1:]))
        st.download_button(
            "Jupyter notebook", notebook.file.read_bytes, notebook.file.name, "application/x-ipynb+json", icon=":material/download:",
            key="notebooks.download", on_click="ignore", type="tertiary",
            help=f"The same cells and outputs as an .ipynb file. Made with {notebook.origin}.",
        )  # fmt: skip
    with st.container(key="notebooks-body", width=WIDTH):
        st.title(notebook.title, anchor=False)
        st.markdown(notebook.steps[0].cells[0].source)
        for step in notebook.steps[1:]:
            show_notebook_step(notebook, step)
        others = list(NOTEBOOKS.values())
        if following := others[others.index(notebook) + 1 :]:
            after = following[0]
            st.page_link(
                PAGE, label=after.title, icon=":material/arrow_forward:", query_params={"notebook": after.slug}
            )


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
    show_text(cell.text)
    if cell.figures:
        items = [panel_of(drawn, f"cell-{cell.number}.{number}") for number, drawn in enumerate(cell.figures)]
        panels(items, key=f"notebooks.board.{name}.{cell.number}", name=name)
    if cell.asserts:
        st.markdown(f":green[:material/check_circle:] {escaped(cell.asserts)}")


def show_text(text: str) -> None:
    printed = text.rstrip("\n").split("\n") if text.strip() else []
    for compares, lines in groupby(printed, lambda line: bool(COMPARISON_LINE.match(line))):
        if compares:
            rows = [match.groupdict() for line in lines if (match := COMPARISON_LINE.match(line))]
            cells = [f"|{row['what'].capitalize()}|{row['given']}|**{row['here']}**|" for row in rows]
            st.markdown("\n".join(["|Number|given|here|", "|---|---:|---:|", *cells]))
        else:
            st.code("\n".join(lines), language=None, wrap_lines=True)
