"""The shelf of runs: this tab's runs as chips, named by what differs among them, each with what can be done with it; two side by side."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from engine.config.run_config import RunConfig, changes_between, settings_of
from engine.runs.run import Run
from pages.parts.app.own_runs import kept_runs, run_shelf, show_run
from pages.parts.boards.live.board import Layout, Overlay, live_board, overlay
from pages.parts.charts.colors import color_of, shade


def difference(before: RunConfig, after: RunConfig) -> str:
    """The differences in words: "Depth 1 → 2, Heads 1 → 4"; default parameters of a new choice are left out."""
    there = before.flat()
    changes = (change for change in changes_between(before, after) if change[0].name in there)
    return ", ".join(f"{row.label} {row.words(was)} → {row.words(now)}" for row, was, now in changes)


def named_by_difference(earlier: RunConfig, present: RunConfig) -> str:
    """The name of an earlier run by its settings that differ from the present run's: "Depth 1, Heads 1"."""
    now, changes = present.flat(), changes_between(present, earlier)
    return ", ".join(f"{row.label} {row.words(value)}" for row, _, value in changes if row.name in now)


def overlays_behind(run: Run) -> list[Overlay]:
    """The runs drawn behind the present one: those of the same task that are not hidden."""
    shown = (other for other in kept_runs() if other.events and other.id not in {run.id, *run_shelf().hidden})
    behind = [other for other in shown if other.config.task == run.config.task]
    return [replace(overlay(other, _name(other, run)), in_legend=False) for other in behind]  # a chip names it


def show_shelf(run: Run) -> None:
    """The settings in which the runs of this tab differ, and a chip with their values for each run, the present one first."""
    runs = sorted(kept_runs(), key=lambda one: one.id != run.id)
    values = [other.config.flat() for other in runs]
    common = [row for row in settings_of(run.config) if all(row.name in own for own in values)]
    differing = [row for row in common if any(own[row.name] != values[0][row.name] for own in values)]
    with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="center", key="lab-shelf"):
        if differing:
            st.caption(" · ".join(row.label for row in differing), width="content")
        for other, own in zip(runs, values, strict=True):
            _chip(other, run, " · ".join(row.words(own[row.name]) for row in differing))


def show_beside(run: Run) -> None:
    """The attention of the present run and of the one chosen to stand beside it."""
    other = next((one for one in kept_runs() if one.id == run_shelf().beside and one.id != run.id), None)
    if other is None:
        return
    st.header("Two runs side by side", help="The attention of each at the same moment of its own training.")
    for column, name, shown in zip(st.columns(2), "AB", (run, other), strict=True):
        with column:
            st.markdown(f"**{name}** · {_name(shown, run)}")
            live_board(shown, Layout(("attention",), f"{name}-{shown.config.task}"), key=f"board.{name}")


def _chip(other: Run, run: Run, words: str) -> None:
    shelf, here = run_shelf(), other.id == run.id
    pinned, hidden = other.id in shelf.pinned, other.id in shelf.hidden
    marks = (":material/push_pin:" if pinned else "") + (":material/visibility_off:" if hidden else "")
    name = f"**{': '.join(filter(None, ('this run', words)))}**" if here else words or "the same settings"
    color = shade(color_of(other.config))[st.context.theme.type or "light"]  # that of the run's curves
    with st.popover(f':color[●]{{foreground="{color}"}} {name} {marks}'):
        st.caption(_name(other, run))
        if not here:
            _act(other, "show", "Show it", "monitoring", show_run, other.id)
            eye = ("Draw it behind", "visibility") if hidden else ("Hide its curves", "visibility_off")
            _act(other, "eye", *eye, shelf.turn, "hidden", other.id)
            beside, aside = ("No longer", "") if shelf.beside == other.id else ("Attention", other.id)
            _act(other, "beside", f"{beside} side by side", "compare", setattr, shelf, "beside", aside)
        pin = "Let it go when newer ones come" if pinned else "Keep it when newer ones come"
        _act(other, "pin", pin, "push_pin", shelf.turn, "pinned", other.id)
        if not here:
            _act(other, "x", "Take it off", "close", shelf.remove, other.id)


def _act(other: Run, name: str, label: str, icon: str, act: Callable[..., None], *args: object) -> None:
    """A button of a run's chip."""
    st.button(label, key=f"shelf.{name}.{other.id}", icon=f":material/{icon}:", on_click=act, args=args)


def _name(other: Run, run: Run) -> str:
    """The present run by what it sets away from the defaults, the others by what differs from it."""
    if other.id == run.id:
        return f"this run: {named_by_difference(run.config, RunConfig()) or 'default settings'}"
    return named_by_difference(other.config, run.config) or "the same settings"
