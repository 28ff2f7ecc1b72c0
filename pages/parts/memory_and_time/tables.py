"""Tables under the figures: the power laws, what was left out, what fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Literal

import streamlit as st

from engine.estimate.by_length import longest, longest_in_time, longest_that_fits, memory_at
from engine.estimate.prediction import known_speed
from engine.foundation.formatting import in_bytes
from engine.sweeps import KINDS
from engine.sweeps.fit import FEWEST, REACH, Fit
from engine.sweeps.plan import SHORTEST, Plan
from engine.sweeps.result import Result
from pages.parts.memory_and_time.view import View

DECIDED = 1.0
"""The widest interval of an exponent with which a law is extended beyond its points: the distance from n to n²."""
COLUMNS = {
    "train": "Training step",
    "inference": "One pass",
    "cached": "Next token, past kept",
    "saved": "Saved for backward",
}


STYLE = """<style>
.cost-table { overflow-x: auto; }
.cost-title { font-weight: 600; font-size: 0.875rem; }
.cost-table table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
.cost-table th, .cost-table td { padding: 0.3rem 1.2rem 0.3rem 0; text-align: left; vertical-align: top; font-weight: 400;
  white-space: pre-line; min-width: 6.5rem; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.cost-table thead th { font-size: 0.8rem; opacity: 0.75; vertical-align: bottom; }
.cost-table.numbers td, .cost-table.numbers thead th { text-align: right; white-space: pre; }
.cost-table.laws td::first-line { font-weight: 600; }
</style>"""


def table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], kind: Literal["numbers", "laws"] = "numbers"
) -> None:
    """Numbers in columns, which scroll sideways on a narrow phone; in ``laws`` of several lines the first is bold."""
    names = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    lines = "".join(
        f"<tr><th scope='row'>{escape(first)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for first, *cells in rows
    )
    st.html(
        f"{STYLE}<div class='cost-title'>{escape(title)}</div>"
        f"<div class='cost-table {kind}' tabindex='0'><table aria-label='{escape(title)}'>"
        f"<thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def show_laws(result: Result) -> None:
    """The exponents, each with its interval and the laws that it allows."""
    if not result.fits:
        return
    what = "length" if result.plan.axis == "length" else "depth"
    rows = [
        [KINDS[kind].label, *(_law(result.fit(kind, quantity)) for quantity in COLUMNS)] for kind in result.plan.kinds
    ]
    title = f"How each cost grows with the {what}: the exponent and its 95 % interval"
    table(title, ["", *COLUMNS.values()], rows, kind="laws")
    st.caption(
        f"The slope on logarithms, least squares, with Student's t interval, over each model's points from the largest down to"
        f" 1/{REACH} of it, at least {FEWEST}. The interval says how far the points are from one straight line, by noise or by"
        " curvature: where small terms still count, the slope lies below that of the limit."
    )


def _law(fit: Fit | None) -> str:
    if fit is None:
        return "–"
    return f"{fit.exponent:.2f}\n{fit.low:.2f} to {fit.high:.2f}\n{fit.says}".replace("-", "−")


def show_skips(result: Result) -> None:
    what = "tokens" if result.plan.axis == "length" else "layers"
    for skip in result.skips:
        st.caption(
            f":material/block: {KINDS[skip.kind].label} from {skip.place:,} {what} on was not started. {skip.why}"
        )


def show_longest(plan: Plan, result: Result | None, view: View) -> None:
    """The longest sequence that fits, and the longest that trains in time, for each kind of model."""
    along = plan.model_copy(update={"axis": "length"})
    measured = result if result is not None and result.plan == along else None
    rows = [[KINDS[kind].label, *_fitting(along, kind, measured, view)] for kind in along.kinds]
    head = [
        "",
        f"Fits in {in_bytes(view.bytes)}",
        f"Trains in {view.seconds:g} s a step",
        "Weights, gradients, optimizer",
    ]
    table("Tokens in a sequence of the model above", head, rows)
    st.caption(
        f"One training step of this model, batch size {along.batch_size}, in float32, AdamW, nothing recomputed. Memory: weights,"
        " gradients, optimizer and what is saved for backward; the highest moment of a step takes more, see the rings above. Time on one"
        " CPU core. ≈ by formula; ~ from the power law measured above, carried on beyond its points where they decide on one."
    )


def _fitting(plan: Plan, kind: str, measured: Result | None, view: View) -> list[str]:
    config = plan.config(kind, SHORTEST)
    memory = memory_at(config, SHORTEST)
    state = memory.parameters + memory.gradients + memory.optimizer
    saved, train = (measured.fit(kind, quantity) if measured else None for quantity in ("saved", "train"))
    fits = longest_that_fits(config, view.bytes)
    if fits is not None:
        room = f"≈ {round_down(fits):,}"
    elif saved is not None:
        room = f"~ {round_down(longest(lambda n: state + saved.at(n), view.bytes)):,}"
    else:
        room = "measured only"
    told = longest_in_time(config, view.seconds, known_speed())
    if train is not None and train.high - train.low <= DECIDED:
        pace = f"~ {round_down(longest(train.at, view.seconds)):,}"
    elif told is not None:
        pace = f"≈ {round_down(told):,}"
    else:
        pace = "measured only" if train is None else "the points do not decide"
    return [room, pace, in_bytes(state)]


def round_down(count: int) -> int:
    """A number rounded down to two digits: more would suggest too much precision."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(1, count))) - 1)
    return count // unit * unit
