"""The board of a sweep: time and memory along the axis, drawn as they are measured."""

from collections.abc import Sequence

import streamlit as st

from engine.estimate.by_length import cache_bytes_at, memory_at, seconds_at
from engine.estimate.speed import known_speed
from engine.foundation.formatting import in_bytes, in_time
from engine.sweeps import KINDS
from engine.sweeps.plan import Plan
from engine.sweeps.result import Result
from engine.sweeps.store import shipped
from engine.sweeps.sweep import Sweep
from pages.parts.app.frame import as_fragment
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.costs import MEBIBYTES, MILLISECONDS, PLOT, CostLine, Unit, cost_figure, parts_figure
from pages.parts.memory_and_time.state import CostView
from pages.parts.memory_and_time.tables import show_skips

POLL = 0.5
"""Seconds between two checks of a running sweep."""
DRAWN = "costs.drawn"
"""The session key of the last drawn panels and of their inputs."""
APART = 3.0
"""How many times as long as an LSTM a GRU takes from where on the reason is told: three gates in place of four cannot explain it."""
UNMEASURED = Result(Plan(), None, (), (), "none", 0.0, 0.0)


def cost_board(sweep: Sweep | None, result: Result | None, plan: Plan, view: CostView) -> None:
    """Follow a sweep until it ends; then the script is rerun once. Without a sweep, show the predictions for ``plan``, and the stored
    measurement where it is of this plan."""
    running = sweep is not None and sweep.state == "running"

    def draw() -> None:
        over = running and sweep is not None and sweep.state != "running"
        shown = sweep.result if sweep is not None else result
        if running and sweep is not None:
            st.progress(min(1.0, sweep.done), text=_words(sweep))
        show_sweep(shown or (shipped() if is_shipped(plan) else UNMEASURED), shown.plan if shown else plan, view)
        if over:
            st.rerun()

    as_fragment(draw, every=POLL if running else None)


def is_shipped(plan: Plan) -> bool:
    """Whether the measurement that comes with the app is of this plan, of its kinds of models or further ones."""
    others = shipped().plan
    return others.model_copy(update={"kinds": plan.kinds, "rounds": plan.rounds, "patience": plan.patience}) == plan


def _words(sweep: Sweep) -> str:
    if sweep.now is None:
        return "Waiting for a worker"
    kind, place = sweep.now
    what = "tokens" if sweep.plan.axis == "length" else "layer" if place == 1 else "layers"
    return f"{KINDS[kind].label}, {place:,} {what} · about {in_time(max(1.0, sweep.seconds_left))} left"


def show_sweep(result: Result, plan: Plan, view: CostView) -> None:
    subject = f"{plan.axis} {plan.places}"
    panels(_drawn(result, plan, view), key="costs.board", name="memory and time", subject=subject, least=400, level=2)
    show_skips(result)


def _drawn(result: Result, plan: Plan, view: CostView) -> list[Panel]:
    """The panels, reused where nothing has changed: most checks of a sweep find it unchanged."""
    stamp = (result.created, len(result.visits), result.state, plan, view.part_of, known_speed())
    last: tuple[object, list[Panel]] | None = st.session_state.get(DRAWN)
    if last is None or last[0] != stamp:
        what = "tokens" if plan.axis == "length" else "layers"
        times = [_line(result, kind, "train", _predicted_times(plan, kind)) for kind in plan.kinds]
        saved = [_line(result, kind, "saved", _predicted_saved(plan, kind)) for kind in plan.kinds]
        title, note = "Memory kept for the backward pass", f"{NOTE} {recurrent_kernels(result, 'train')}".strip()
        items = [
            _panel("costs.train", "Time of a training step", times, plan, what, MILLISECONDS, "step", "batch", note),
            _panel("costs.saved", title, saved, plan, what, MEBIBYTES, "saved for backward", "memory"),
            *([_next_panel(result, plan, what)] if result.visits or result.state == "running" else []),
            _parts_panel(result, plan, view, what),
        ]
        last = st.session_state[DRAWN] = (stamp, items)
    return last[1]


def _predicted_times(plan: Plan, kind: str) -> list[tuple[int, float]]:
    """Predicted seconds of a step on one CPU core; empty until the speed of this machine is measured."""
    if plan.device != "cpu":
        return []
    speed = known_speed()
    told = [(place, seconds_at(plan.config(kind, place), plan.length_at(place), speed)) for place in plan.places]
    return [(place, seconds) for place, seconds in told if seconds is not None]


def _predicted_saved(plan: Plan, kind: str) -> list[tuple[int, float]]:
    told = [(place, memory_at(plan.config(kind, place), plan.length_at(place)).saved) for place in plan.places]
    return [(place, float(saved)) for place, saved in told if saved is not None]


def _next_panel(result: Result, plan: Plan, what: str) -> Panel:
    anew = [_line(result, kind, "inference") for kind in plan.kinds]
    keeping = [kind for kind in plan.kinds if KINDS[kind].keeps]
    kept = [_line(result, kind, "cached", more=", kept", dashed=True) for kind in keeping]
    last = plan.places[-1]
    cache = ""
    if "fused" in plan.kinds:
        size = cache_bytes_at(plan.config("fused", last), plan.length_at(last))
        cache = f" Keys and values take {in_bytes(size)} at {last:,} {what}."
    note = f"Filled: the whole sequence is read again. Open, “kept”: the past is kept.{cache} {recurrent_kernels(result, 'inference')}"
    title, lines = "Time to write the next token", [*anew, *kept]
    return _panel("costs.next", title, lines, plan, what, MILLISECONDS, "next token", "kv-cache", note.strip())


def _line(
    result: Result, kind: str, quantity: str, predicted: Sequence[tuple[int, float]] = (), more: str = "", dashed: bool = False
) -> CostLine:  # fmt: skip
    row, levels = KINDS[kind], result.summaries(kind, quantity)
    if kind == "lstm" and recurrent_kernels(result, quantity):
        more = f"{more}, oneDNN"
    return CostLine(f"{kind}.{quantity}", row.label + more, row.short + more, row.color, levels, predicted, dashed)


def recurrent_kernels(result: Result, quantity: str) -> str:
    """The reason why a GRU takes many times as long as an LSTM, where it was so measured on a CPU; else empty.

    torch gives an LSTM layer to oneDNN, one call for the whole sequence. Its GRU has no such kernel on a CPU: a dozen small operations
    for each token, each with its own overhead. With oneDNN switched off both take about the same time.
    """
    gru, lstm = ({at.place: at.value for at in result.summaries(kind, quantity)} for kind in ("gru", "lstm"))
    place = max(gru.keys() & lstm.keys(), default=None)
    if place is None or result.machine is None or result.machine.kind != "cpu" or gru[place] < APART * lstm[place]:
        return ""
    return (
        f"A GRU takes {gru[place] / lstm[place]:.0f} times as long as an LSTM because of this CPU's kernels. "
        "oneDNN runs a whole LSTM layer in one call; a GRU takes many small calls for each token."
    )


NOTE = "Points: measured, with their range. Dotted: by formula."


def _panel(
    name: str, title: str, lines: list[CostLine], plan: Plan, what: str, unit: Unit, axis: str, term: str, note: str = NOTE
) -> Panel:  # fmt: skip
    drawn = cost_figure(lines, plan.places, what, unit, axis)
    said = "; ".join(_in_words(line, what, unit) for line in lines)
    return Panel(name, title, drawn, f"{title} against {what}. {said}", height=PLOT + 52, note=note, term=term)


def _in_words(line: CostLine, what: str, unit: Unit) -> str:
    if not line.levels:
        told = [f"{unit.words(value)} at {place:,}" for place, value in (*line.predicted[:1], *line.predicted[-1:])]
        return f"{line.label}: not measured" + (f", predicted {' to '.join(told)} {what}" if told else "")
    first, last = line.levels[0], line.levels[-1]
    return f"{line.label}: {unit.words(first.value)} at {first.place:,} to {unit.words(last.value)} at {last.place:,} {what}"


def _parts_panel(result: Result, plan: Plan, view: CostView, what: str) -> Panel:
    kind = KINDS[view.part_of]
    told = [(place, memory_at(plan.config(kind.name, place), plan.length_at(place))) for place in plan.places]
    seen = [(visit.place, visit.memory) for visit in result.counted(kind.name) if visit.memory is not None]
    has_formula = told[0][1].saved is not None
    bars = told if has_formula else seen
    note = "Bars: by formula." if has_formula else "No formula for this model: the bars are measured."
    sums = [f"{in_bytes(memory.total)} at {place:,} {what}" for place, memory in bars[:: max(1, len(bars) - 1)]]
    return Panel(
        "costs.parts", f"What a training step keeps: {kind.label}", parts_figure(bars, seen, what, kind.color),
        f"Memory by part of {kind.label}: {', '.join(sums) or 'nothing is measured yet'}.", height=360, term="memory",
        note=f"{note} Dots: measured sum; rings: the highest during a step." if seen else note,
    )  # fmt: skip
