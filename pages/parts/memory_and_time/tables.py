"""Tables under the figures: the power laws, what was left out, and what the models take and how long a sequence fits."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from engine.estimate.by_length import cache_bytes_at, longest, longest_in_time, longest_that_fits, memory_at
from engine.estimate.prediction import predict
from engine.estimate.speed import known_speed
from engine.foundation.formatting import in_bytes
from engine.sweeps import KINDS
from engine.sweeps.fit import FEWEST, REACH
from engine.sweeps.frames import fits_frame
from engine.sweeps.plan import SHORTEST, Plan
from engine.sweeps.result import Result
from pages.parts.charts.table import numbers_right, whole_lines
from pages.parts.memory_and_time.state import CostView

DECIDED = 1.0
"""The widest interval of an exponent with which a law is extended beyond its points: the distance from n to n²."""
MODEL = "Model"
"""The head of the column of models: a head without words says nothing to a screen reader."""
LABELS = {name: kind.label for name, kind in KINDS.items()}
COLUMNS = {
    "train": "Training step", "inference": "One pass", "cached": "Next token, past kept", "saved": "Saved for backward",
}  # fmt: skip


def small_table(title: str, frame: Styler) -> None:
    """A table under its title; it scrolls sideways on a narrow phone."""
    st.markdown(f"**{title}**")
    st.table(frame, border="horizontal", width="content", alt=title)


def show_laws(result: Result) -> None:
    """The exponents, each with its interval and the laws that it allows."""
    if not result.fits:
        return
    what = "length" if result.plan.axis == "length" else "depth"
    title = f"How each cost grows with the {what}: the exponent and its 95 % interval"
    with st.expander(title, icon=":material/trending_up:"):
        st.table(whole_lines(laws_frame(result)), border="horizontal", width="content", alt=title)
        st.caption(
            f"The slope on logarithms, least squares, with Student's t interval, over each model's points from the largest down to"
            f" 1/{REACH} of it, at least {FEWEST}. The interval says how far the points are from one straight line, by noise or by"
            " curvature: where small terms still count, the slope lies below that of the limit."
        )


def laws_frame(result: Result) -> pd.DataFrame:
    """A row for each kind of model, a column for each cost: the exponent, its interval and what it says, as Markdown."""
    fits = fits_frame(result)
    fits["law"] = [_law(row) for row in fits.to_dict("records")]
    frame = fits.pivot(index="kind", columns="quantity", values="law")
    frame = frame.reindex(index=list(result.plan.kinds), columns=list(COLUMNS)).astype(object).fillna("–")
    return frame.rename(index=LABELS, columns=COLUMNS).rename_axis(index=MODEL, columns=None)


def _law(fit: Mapping[Any, Any]) -> str:
    lines = (f"**{fit['exponent']:.2f}**", f"{fit['low']:.2f} to {fit['high']:.2f}", fit["says"])
    return "  \n".join(lines).replace("-", "−")


def show_skips(result: Result) -> None:
    what = "tokens" if result.plan.axis == "length" else "layers"
    for skip in result.skips:
        named = f"{KINDS[skip.kind].label} from {skip.place:,} {what} on"
        st.caption(f":material/block: {named} was not started. {skip.why}")


def show_longest(plan: Plan, result: Result | None, view: CostView) -> None:
    """The exact costs of each kind of model; the longest sequence that fits, and the longest that trains in time."""
    small_table(
        "The models above, and the tokens in a sequence that fits", numbers_right(longest_frame(plan, result, view))
    )
    st.caption(
        f"One training step of this model, batch size {plan.batch_size}, in float32, AdamW, nothing recomputed. Parameters, cache and"
        " scores are exact. Memory: weights, gradients, optimizer and the numbers saved for the backward pass; the highest moment of a"
        " step takes more. Time on one CPU core. ≈: by formula. ~: from your measurement above, whose straight line is drawn on to longer"
        " sequences. *measured only*: there is no formula, and too few lengths were measured above."
    )


def longest_frame(plan: Plan, result: Result | None, view: CostView) -> pd.DataFrame:
    """A row for each kind of model: parameters, cache and scores, and the longest sequence in memory and in time."""
    length = plan.length_at(plan.places[-1])
    along = plan.model_copy(update={"axis": "length"})
    measured = result if result is not None and result.plan == along else None
    rows = [[*_exact(along, kind, length), *_fitting(along, kind, measured, view)] for kind in along.kinds]
    fits, pace = f"Fits in {in_bytes(view.bytes)}", f"Trains in {view.seconds:g} s per step"
    return pd.DataFrame(
        rows,
        pd.Index([LABELS[kind] for kind in along.kinds], name=MODEL),
        ["Parameters", "Cache per token", f"Scores at {length:,} tokens", fits, pace],
    )


def _exact(plan: Plan, kind: str, length: int) -> list[str]:
    config = plan.config(kind, SHORTEST)
    cache = in_bytes(cache_bytes_at(config, 1) // config.batch_size) if KINDS[kind].attends else "–"
    scores = memory_at(config, length).scores
    return [f"{predict(config).parameters:,}", cache, "–" if scores is None else in_bytes(scores)]


def _fitting(plan: Plan, kind: str, measured: Result | None, view: CostView) -> list[str]:
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
    return [room, pace]


def round_down(count: int) -> int:
    """A number rounded down to two digits: more would suggest too much precision."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(1, count))) - 1)
    return count // unit * unit
