"""Under the figures: what was left out, and the table of what the models take and how long a sequence fits."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.estimate.by_length import cache_bytes_at, longest, longest_in_time, longest_that_fits, memory_at
from engine.estimate.prediction import predict
from engine.estimate.speed import known_speed
from engine.foundation.formatting import in_bytes
from engine.sweeps import KINDS
from engine.sweeps.plan import SHORTEST, Plan
from engine.sweeps.result import Result, Summary, onward
from pages.parts.charts.table import numbers_right
from pages.parts.memory_and_time.state import CostView

MODEL = "Model"
"""The head of the column of models: a head without words says nothing to a screen reader."""
LABELS = {name: kind.label for name, kind in KINDS.items()}


def show_skips(result: Result) -> None:
    what = "tokens" if result.plan.axis == "length" else "layers"
    for skip in result.skips:
        named = f"{KINDS[skip.kind].label} from {skip.place:,} {what} on"
        st.caption(f":material/block: {named} was not started. {skip.why}")


def show_longest(plan: Plan, result: Result | None, view: CostView) -> None:
    """The exact costs of each kind of model; the longest sequence that fits, and the longest that trains in time."""
    title = "The models above, and the tokens in a sequence that fits"
    st.markdown(f"**{title}**")
    # On a narrow phone the table scrolls sideways.
    st.table(numbers_right(longest_frame(plan, result, view)), border="horizontal", width="content", alt=title)
    st.caption(
        f"One training step of this model, batch size {plan.batch_size}, in float32, AdamW, nothing recomputed. Parameters, cache and"
        " scores are exact. Memory: weights, gradients, optimizer and the numbers saved for the backward pass; the highest moment of a"
        " step takes more. Time on one CPU core. ≈: by formula. ~: from your measurement above, whose straight line is drawn on to longer"
        " sequences. *measured only*: there is no formula, and fewer than three lengths were measured above."
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
    """The longest sequence in memory, by formula where there is one, and in time, as it was measured where it was."""
    config = plan.config(kind, SHORTEST)
    state = memory_at(config, SHORTEST).state
    room = _about("≈", longest_that_fits(config, view.bytes))
    pace = _about("≈", longest_in_time(config, view.seconds, known_speed()))
    saved, train = (measured.summaries(kind, quantity) if measured else [] for quantity in ("saved", "train"))
    return [
        room or _about("~", _drawn_on(saved, view.bytes - state)) or "measured only",
        _about("~", _drawn_on(train, view.seconds)) or pace or "measured only",
    ]


def _drawn_on(levels: Sequence[Summary], allowed: float) -> int | None:
    """The longest sequence by the straight line, on logarithms, through the last three lengths; None without a rising one."""
    ends = [(level.place, level.value) for level in levels[-3::2]]
    if len(levels) < 3 or ends[0][1] >= ends[1][1]:
        return None
    return longest(lambda length: onward(ends, length), allowed)


def _about(mark: str, count: int | None) -> str:
    return "" if count is None else f"{mark} {round_down(count):,}"


def round_down(count: int) -> int:
    """A number rounded down to two digits: more would suggest too much precision."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(1, count))) - 1)
    return count // unit * unit
