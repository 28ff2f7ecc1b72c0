"""The page Cost: its settings, the live and stored measurements, the figures and the tables."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd
import streamlit as st
from pydantic import field_validator

from engine.config.run_config import RunConfig
from engine.estimate.by_length import cache_bytes_at, longest, memory_at, seconds_at
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters, has_formula
from engine.estimate.prediction import predict
from engine.estimate.speed import known_speed
from engine.experiments.sweeps import KINDS, store
from engine.experiments.sweeps.plan import SHORTEST, Plan, read_plan
from engine.experiments.sweeps.result import Result
from engine.experiments.sweeps.store import shipped
from engine.experiments.sweeps.sweep import Sweep
from engine.foundation.formatting import in_bytes, in_time
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import Parameters, setting
from pages.parts.app.frame import as_fragment
from pages.parts.app.page_state import ModelSettings, PageState, not_allowed
from pages.parts.app.task_registry import TaskRegistry
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.costs import MEBIBYTES, MILLISECONDS, PLOT, CostLine, Unit, cost_figure, parts_figure
from pages.parts.charts.table import numbers_right

GIB = 2**30
SWEEPS: TaskRegistry[Sweep] = TaskRegistry("sweep")


class CostView(Parameters):
    """Settings that change no measured number. Frozen."""

    # fmt: off
    part_of: Literal["materialised", "fused", "gru", "lstm", "cnn"] = setting(
        "materialised", "Parts of", "The model in the memory figure.", labels={name: row.label for name, row in KINDS.items()},
    )
    memory: float = setting(16.0, "Memory (GiB)", "Memory of the device.", ge=0.001, le=100_000.0)
    # fmt: on

    @property
    def bytes(self) -> int:
        return int(self.memory * GIB)


def begin_sweep(sweep: Sweep) -> str:
    """Start a sweep, whose result is stored also after a stop; return its name. Raises Refused where the visitor has
    another one running."""

    def keep(name: str) -> None:
        if sweep.result.visits:
            store.keep(name, sweep.result, sweep.visitor)

    # Two presses start one sweep of a plan.
    same = SWEEPS.running_of(sweep.visitor, lambda other: other.plan == sweep.plan)
    return SWEEPS.begin(sweep, name=same, keep=keep)


def sweep_result(name: str) -> Result | None:
    sweep = SWEEPS.find(name)
    return sweep.result if sweep is not None else store.find(name)


class CostState(PageState, Plan, CostView):
    REMOVED = MappingProxyType(
        dict.fromkeys(
            ("models", "precision", "context", "sequences", "written"),
            "Estimates for well-known models were removed. The table shows the model above.",
        )
        | {"seconds": "The longest sequence for a given time was removed. The page shows measured times only."}
    )

    sweep: str | None = None

    @field_validator("sweep")
    @classmethod
    def _known_sweep(cls, name: str | None) -> str | None:
        if name is not None and sweep_result(name) is None:
            raise not_allowed("a measurement that this server has")
        return name

    def plan(self) -> Plan:
        """Raises ConfigError for settings that do not go together."""
        return read_plan({name: getattr(self, name) for name in Plan.model_fields})

    def check(self) -> None:
        self.plan()


class CostSettings(ModelSettings[CostState]):
    """A link with only a measurement opens with the plan of that measurement."""

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        values, ignored = super().read(query)
        result = sweep_result(values["sweep"]) if values["sweep"] else None
        if result is not None and query.keys().isdisjoint(Plan.model_fields):
            values |= result.plan.model_dump()
        return values, ignored

    def controls(self) -> Collection[str]:
        return CostState.model_fields.keys() - {"sweep"}


SETTINGS = CostSettings("costs", CostState)
# the end of the axis, and the constant size
ALONG = {"length": ("longest", "n_layers"), "depth": ("deepest", "seq_len")}


def plan_settings(*, has_accelerator: bool, disabled: bool) -> None:
    values = SETTINGS.values()
    with st.container(width=180):
        widget("axis", disabled=disabled)
    with st.popover("More", icon=":material/tune:"):
        if SETTINGS.visible("kinds"):
            st.pills(
                "Models", list(KINDS), selection_mode="multi", wrap=True, format_func=lambda name: KINDS[name].label,
                default=SETTINGS.first_value("kinds"), **SETTINGS.bound("kinds", disabled=disabled),
            )  # fmt: skip
        with st.grid(3, min_column_width=110):
            for name in (*ALONG[values["axis"]], "d_model", "n_heads", "kv_heads", "batch_size"):
                widget(name, disabled=disabled)
        widget("part_of")
        # A link may name a device that this server lacks; the measurement then says so.
        if has_accelerator or values["device"] != "cpu":
            widget("device", disabled=disabled)
        if rare := SETTINGS.visible("rounds", "patience"):
            for name in rare:
                widget(name, disabled=disabled)
            st.caption(MEASURED)


MEASURED = """
Each point is a short job on its own worker. Every model grows until its next point would take too long or too
much memory. Then all points run again, in random order.
"""


def widget(name: str, *, disabled: bool = False) -> None:
    SETTINGS.widget(name, side_by_side=True, disabled=disabled)


# Below the figures: skipped points, tables of bytes, and lengths that fit


# A head without words says nothing to a screen reader.
MODEL = "Model"
LABELS = {name: kind.label for name, kind in KINDS.items()}
TEXT = Path(__file__).with_suffix(".md")
UNKNOWN = "measured only"  # neither a formula nor a measurement


def show_skips(result: Result) -> None:
    what = "tokens" if result.plan.axis == "length" else "layers"
    for skip in result.skips:
        named = f"{KINDS[skip.kind].label} was not measured from {skip.tick:,} {what} upwards"
        st.caption(f":material/block: {named}. {skip.why}")


def show_longest(plan: Plan, result: Result | None, view: CostView) -> None:
    title = "Bytes of the models above, and the tokens in a sequence that fits"
    _table(longest_frame(plan, result, view), title)
    st.caption(
        f"One training step, batch size {plan.batch_size}, float32, AdamW. *Kept*: bytes of activations for the backward pass. "
        f"*Fits*: with weights, gradients and optimizer too; a step briefly needs more. *{UNKNOWN}*: press Measure."
    )


def show_growth(plan: Plan) -> None:
    _table(growth_frame(plan), "Parameters and bytes when one size of the transformer doubles")
    st.caption("Training with AdamW needs four numbers per parameter: weight, gradient and two running means.")
    with st.expander("Formulas, remedies, sources", icon=":material/functions:"):
        st.markdown(TEXT.read_text("utf-8"))


def _table(frame: pd.DataFrame, title: str) -> None:
    st.markdown(f"**{title}**")
    # On a narrow phone the table scrolls sideways.
    st.table(numbers_right(frame), border="horizontal", width="content", alt=title)


def longest_frame(plan: Plan, result: Result | None, view: CostView) -> pd.DataFrame:
    """A row for each kind of model. ``result``: the measurement for kinds without a formula."""
    along = plan.model_copy(update={"axis": "length"})
    counted = result if result is not None and covers(result.plan, along) else None
    rows = [_bytes_of(along, kind, counted, view) for kind in along.kinds]
    heads = [f"Kept at {length:,} tokens" for length in _two_lengths(along)]
    return pd.DataFrame(
        rows,
        pd.Index([LABELS[kind] for kind in along.kinds], name=MODEL),
        ["Parameters", *heads, "Cache per token", f"Fits in {in_bytes(view.bytes)}"],
    )


def _two_lengths(plan: Plan) -> tuple[int, int]:
    return plan.longest // 2, plan.longest


def _bytes_of(plan: Plan, kind: str, counted: Result | None, view: CostView) -> list[str]:
    config = plan.config(kind, SHORTEST)
    cache = in_bytes(cache_bytes_at(config, 1) // config.batch_size) if KINDS[kind].attends else "–"
    saved_at, state = saved_bytes_by_length(plan, kind, counted), memory_at(config, SHORTEST).state
    if saved_at is None:
        bytes_ = [UNKNOWN] * 3
    else:
        fits = longest(lambda length: state + saved_at(length), view.bytes)
        bytes_ = [*(f"{saved_at(length):,}" for length in _two_lengths(plan)), f"{round_down(fits):,}"]
    return [f"{predict(config).parameters:,}", *bytes_[:2], cache, bytes_[2]]


def saved_bytes_by_length(plan: Plan, kind: str, counted: Result | None) -> Callable[[int], int] | None:
    """The bytes saved for backward, by length; None without a formula or two measured lengths."""
    config = plan.config(kind, SHORTEST)
    if has_formula(config):
        return lambda length: memory_at(config, length).saved or 0
    levels = counted.summaries(kind, "saved") if counted is not None else []
    if len(levels) < 2:
        return None
    # Each further token of a model without attention saves the same number of bytes.
    first, last = levels[0], levels[-1]
    each = (last.value - first.value) / (last.tick - first.tick)
    return lambda length: round(first.value + each * (length - first.tick))


ROWS = (
    "Parameters of the blocks",
    "Weights, gradients, AdamW (bytes)",
    "Kept, scores stored (bytes)",
    "Kept, scores in blocks (bytes)",
)


def growth_frame(plan: Plan) -> pd.DataFrame:
    length, fused = plan.length_at(plan.ticks[-1]), plan.config("fused", plan.ticks[0])
    deep = {"n_layers": 2 * fused.n_layers}
    first = _counts(fused, length)
    columns = {"This model": [f"{one:,}" for one in first]}
    for name, n, change in (
        ("Twice the tokens", 2 * length, {}),
        ("Twice the width", length, {"d_model": 2 * fused.d_model}),
        ("Twice the layers", length, deep),
        ("Twice the layers, one shared block", length, deep | {"share_layers": True}),
    ):
        with suppress(ConfigError):
            counts = _counts(fused.replace(**change), n)
            columns[name] = [f"{one:,} (×{one / before:.3g})" for one, before in zip(counts, first, strict=True)]
    return pd.DataFrame(columns, pd.Index(ROWS, name="Number"))


def _counts(fused: RunConfig, length: int) -> list[int]:
    parts, memory = count_parameters(fused, shapes(fused)), memory_at(fused, length)
    stored = memory_at(fused.replace(attention_impl="materialised"), length).saved
    blocks = sum(parts[part] for part in ("attention", "mlp", "norm")) - 2 * fused.d_model  # without the last norm
    return [blocks, memory.state, stored or 0, memory.saved or 0]


def round_down(count: int) -> int:
    unit: int = 10 ** max(0, math.floor(math.log10(max(1, count))) - 1)
    return count // unit * unit


# The board of a sweep: time and memory along the axis, drawn as they are measured


POLL = 0.5  # seconds between two checks of a running sweep
PANELS = "costs.drawn"
# Three gates instead of four cannot explain it.
APART = 3.0  # ratio of GRU to LSTM time from which the page gives a reason
UNMEASURED = Result(Plan(), None, (), (), "none", 0.0, 0.0)


def cost_board(sweep: Sweep | None, result: Result | None, plan: Plan, view: CostView) -> None:
    """Follow a sweep until it ends; then the script is rerun once.

    Without a sweep, draw ``result``, else the shipped measurement of this plan, else predictions only.
    """
    running = sweep is not None and sweep.state == "running"

    def draw() -> None:
        has_ended = running and sweep is not None and sweep.state != "running"
        latest = sweep.result if sweep is not None else result
        if running and sweep is not None:
            st.progress(min(1.0, sweep.share_done), text=_words(sweep))
        show_sweep(latest or (shipped() if is_shipped(plan) else UNMEASURED), latest.plan if latest else plan, view)
        if has_ended:
            st.rerun()

    as_fragment(draw, every=POLL if running else None)


def is_shipped(plan: Plan) -> bool:
    return covers(shipped().plan, plan)


def covers(measured: Plan, plan: Plan) -> bool:
    """True if the sizes are the same; kinds of models and numbers of visits may differ."""
    return measured.model_copy(update={name: getattr(plan, name) for name in ("kinds", "rounds", "patience")}) == plan


def _words(sweep: Sweep) -> str:
    if sweep.now is None:
        return "Waiting for a worker"
    kind, tick = sweep.now
    what = "tokens" if sweep.plan.axis == "length" else "layer" if tick == 1 else "layers"
    return f"{KINDS[kind].label}, {tick:,} {what} · about {in_time(max(1.0, sweep.seconds_left))} left"


def show_sweep(result: Result, plan: Plan, view: CostView) -> None:
    subject = f"{plan.axis} {plan.ticks}"
    panels(_board_panels(result, plan, view), key="costs.board", name="cost", subject=subject, least=400, level=2)
    show_skips(result)


def _board_panels(result: Result, plan: Plan, view: CostView) -> list[Panel]:
    stamp = (result.created, len(result.visits), result.state, plan, view.part_of, known_speed())
    last: tuple[object, list[Panel]] | None = st.session_state.get(PANELS)
    if last is None or last[0] != stamp:  # else nothing has changed, as at most checks of a sweep
        what = "tokens" if plan.axis == "length" else "layers"
        times = [_line(result, kind, "train", _predicted_times(plan, kind)) for kind in plan.kinds]
        saved = [_line(result, kind, "saved", _predicted_saved(plan, kind)) for kind in plan.kinds]
        title, note = "Memory kept for the backward pass", f"{NOTE} {recurrent_kernels(result, 'train')}".strip()
        items = [
            _panel("costs.train", "Time of a training step", times, plan, what, MILLISECONDS, "step", "batch", note),
            _panel("costs.saved", title, saved, plan, what, MEBIBYTES, "kept", "memory"),
            *([_next_panel(result, plan, what)] if result.visits or result.state == "running" else []),
            _parts_panel(result, plan, view, what),
        ]
        last = st.session_state[PANELS] = (stamp, items)
    return last[1]


def _predicted_times(plan: Plan, kind: str) -> list[tuple[int, float]]:
    """Predicted seconds of a step on one CPU core; empty before this machine's speed is measured."""
    if plan.device != "cpu":
        return []
    speed = known_speed()
    predicted = [(tick, seconds_at(plan.config(kind, tick), plan.length_at(tick), speed)) for tick in plan.ticks]
    return [(tick, seconds) for tick, seconds in predicted if seconds is not None]


def _predicted_saved(plan: Plan, kind: str) -> list[tuple[int, float]]:
    predicted = [(tick, memory_at(plan.config(kind, tick), plan.length_at(tick)).saved) for tick in plan.ticks]
    return [(tick, float(saved)) for tick, saved in predicted if saved is not None]


def _next_panel(result: Result, plan: Plan, what: str) -> Panel:
    without_cache = [_line(result, kind, "inference") for kind in plan.kinds]
    cached_kinds = [kind for kind in plan.kinds if KINDS[kind].keeps]
    with_cache = [_line(result, kind, "cached", more=", cache", dashed=True) for kind in cached_kinds]
    last = plan.ticks[-1]
    cache = ""
    if "fused" in plan.kinds:
        size = cache_bytes_at(plan.config("fused", last), plan.length_at(last))
        cache = f" Keys and values take {in_bytes(size)} at {last:,} {what}."
    kernels = recurrent_kernels(result, "inference")
    note = f"Filled dots: the model reads the whole sequence again. Open dots: with a cache.{cache} {kernels}"
    title, lines = "Time to write the next token", [*without_cache, *with_cache]
    return _panel("costs.next", title, lines, plan, what, MILLISECONDS, "next token", "kv-cache", note.strip())


def _line(
    result: Result, kind: str, quantity: str, predicted: Sequence[tuple[int, float]] = (), more: str = "", dashed: bool = False
) -> CostLine:  # fmt: skip
    row, levels = KINDS[kind], result.summaries(kind, quantity)
    if kind == "lstm" and recurrent_kernels(result, quantity):
        more = f"{more}, oneDNN"
    return CostLine(f"{kind}.{quantity}", row.label + more, row.short + more, row.color, levels, predicted, dashed)


def recurrent_kernels(result: Result, quantity: str) -> str:
    """The reason why a GRU takes many times as long as an LSTM, if measured so on a CPU; else empty.

    torch gives an LSTM layer to oneDNN, one call for the whole sequence. Its GRU has no such kernel on a CPU: a dozen
    small operations for each token, each with its own overhead. With oneDNN switched off both take about the same
    time.
    """
    gru, lstm = ({at.tick: at.value for at in result.summaries(kind, quantity)} for kind in ("gru", "lstm"))
    tick = max(gru.keys() & lstm.keys(), default=None)
    if tick is None or result.machine is None or result.machine.kind != "cpu" or gru[tick] < APART * lstm[tick]:
        return ""
    times = f"{gru[tick] / lstm[tick]:.0f} times"
    return f"A GRU takes {times} as long as an LSTM. torch runs an LSTM in one call, a GRU token by token."


NOTE = "Points: measured. Dotted: predicted."


def _panel(
    name: str, title: str, lines: list[CostLine], plan: Plan, what: str, unit: Unit, axis: str, term: str, note: str = NOTE
) -> Panel:  # fmt: skip
    drawn = cost_figure(lines, plan.ticks, what, unit, axis)
    summary = "; ".join(_in_words(line, what, unit) for line in lines)
    return Panel(name, title, drawn, f"{title} against {what}. {summary}", height=PLOT + 52, note=note, term=term)


def _in_words(line: CostLine, what: str, unit: Unit) -> str:
    if not line.levels:
        predicted = [f"{unit.words(value)} at {tick:,}" for tick, value in (*line.predicted[:1], *line.predicted[-1:])]
        return f"{line.label}: not measured" + (f", predicted {' to '.join(predicted)} {what}" if predicted else "")
    first, last = line.levels[0], line.levels[-1]
    return (
        f"{line.label}: {unit.words(first.value)} at {first.tick:,} to {unit.words(last.value)} at {last.tick:,} {what}"
    )


def _parts_panel(result: Result, plan: Plan, view: CostView, what: str) -> Panel:
    kind = KINDS[view.part_of]
    predicted = [(tick, memory_at(plan.config(kind.name, tick), plan.length_at(tick))) for tick in plan.ticks]
    measured = [(visit.tick, visit.memory) for visit in result.counted_visits(kind.name) if visit.memory is not None]
    has_formula = predicted[0][1].saved is not None
    bars = predicted if has_formula else measured
    note = "Bars: predicted." if has_formula else "No formula for this model: the bars are measured."
    sums = [f"{in_bytes(memory.total)} at {tick:,} {what}" for tick, memory in bars[:: max(1, len(bars) - 1)]]
    return Panel(
        "costs.parts", f"Memory of a training step: {kind.label}", parts_figure(bars, measured, what, kind.color),
        f"Memory by part of {kind.label}: {', '.join(sums) or 'nothing is measured yet'}.", height=360, term="memory",
        note=f"{note} Dots: measured sum; rings: the highest during a step." if measured else note,
    )  # fmt: skip
