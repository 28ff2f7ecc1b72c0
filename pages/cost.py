"""Cost: time and memory against length and depth, the exact bytes, and the longest sequence that fits."""

import json

import streamlit as st

from engine.experiments.sweeps.plan import Plan
from engine.experiments.sweeps.result import Result
from engine.experiments.sweeps.store import shipped, to_csv, to_json
from engine.experiments.sweeps.sweep import Sweep
from engine.settings.errors import ConfigError
from pages.parts.app import server
from pages.parts.app.in_markdown import in_markdown, refused_in_words, say_ignored, say_unsaved, show_refusal
from pages.parts.app.page_state import offer_file
from pages.parts.app.visitor import visitor
from pages.parts.cost import (
    SETTINGS,
    SWEEPS,
    begin_sweep,
    cost_board,
    is_shipped,
    plan_settings,
    show_growth,
    show_longest,
    sweep_result,
    widget,
)


def measure(plan: Plan) -> None:
    with refused_in_words():
        SETTINGS.put({"sweep": begin_sweep(Sweep(plan, server.pool(), visitor=visitor()))})


def offer_files(result: Result) -> None:
    with st.container(horizontal=True):
        offer_file("All values (CSV)", lambda: to_csv(result), "cost.csv")
        offer_file("Measurement (JSON)", lambda: json.dumps(to_json(result), indent=1, allow_nan=False), "cost.json")


def device_words(result: Result | None, *, running: bool, stored: bool) -> str:
    """Return the device of the points in ``result``, or of those that come with the app if they are ``stored``."""
    if running:
        return ":material/timer: Points appear as they are measured. Dotted lines are predictions."
    machine = result.machine if result is not None else shipped().machine if stored else None
    if machine is None:
        return ":material/timer: Dotted lines are predictions. Press Measure for points."
    cores = "one core" if machine.threads == 1 else f"{machine.threads} cores"
    where = f"{cores} of {machine.device}" if machine.kind == "cpu" else machine.device
    if result is not None:
        return f":material/memory: Measured on {where}, torch {machine.torch}."
    before = f"**Measured earlier** on {where}, torch {machine.torch}"
    return f":material/inventory_2: {before}. **Measure** repeats it here."


_, ignored = SETTINGS.open_address()
st.title("Cost", anchor=False)
st.markdown("Attention computes n² scores for n tokens. A GRU reads one token at a time.")
say_ignored(ignored)
name = SETTINGS.values()["sweep"]
sweep = SWEEPS.find(name) if name else None
result = sweep_result(name) if name else None
running = sweep is not None and sweep.state == "running"
request = SETTINGS.state()
plan: Plan | None = None

with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="cost-bar"):
    measuring = st.container(width="content", horizontal=True, gap="small")  # first, before its settings
    plan_settings(has_accelerator=bool(server.pool().health().device.get("accelerator")), disabled=running)
    problem = ""
    try:
        plan = request.plan()
    except ConfigError as error:
        problem = in_markdown(error)
    with measuring:
        st.button(
            "Measure", type="primary", icon=":material/timer:", disabled=running or plan is None, on_click=measure, args=(plan,)
        )  # fmt: skip
        if name is not None and running and SWEEPS.owned(name, visitor()):
            st.button("Stop", icon=":material/stop:", on_click=SWEEPS.leave, args=(name, visitor()))
with st.container():  # a fixed container: otherwise messages would change the board's index and remount it
    show_refusal()
    if problem or (sweep is not None and sweep.problem):
        st.error(problem or in_markdown(sweep.problem if sweep else ""), icon=":material/error:")
    say_unsaved(sweep)
    st.caption(device_words(result, running=running, stored=plan is not None and is_shipped(plan)))
    if result is not None and plan is not None and plan != result.plan and not running:
        st.caption(":material/edit: The settings have changed. The figures show the earlier measurement.")
cost_board(sweep, result, plan or Plan(), request)
if result is not None and not running:
    offer_files(result)

st.header("Exact bytes, and the longest sequence that fits", anchor=False)
for setting in SETTINGS.visible("memory"):
    with st.container(width=180):
        widget(setting)
if plan is not None:
    show_longest(plan, result or (shipped() if is_shipped(plan) else None), request)
    show_growth(plan)
SETTINGS.write_address(SETTINGS.query())
if sweep is not None and running and sweep.state != "running":
    st.rerun()  # the sweep changed state during this script run: rerun so that the buttons match
