"""Tables under the figures: the power laws, what was left out, what fits;
and the memory of well-known models in training and in writing, by formula."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from engine.estimate.at_scale import PRECISIONS, WELL_KNOWN, Published, longest_trained, longest_written
from engine.estimate.by_length import longest, longest_in_time, longest_that_fits, memory_at
from engine.estimate.frames import models_frame
from engine.estimate.speed import known_speed
from engine.foundation.formatting import in_bytes
from engine.sweeps import KINDS
from engine.sweeps.fit import FEWEST, REACH
from engine.sweeps.frames import fits_frame
from engine.sweeps.plan import SHORTEST, Plan
from engine.sweeps.result import Result
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.costs import scale_figure
from pages.parts.charts.table import numbers_right, whole_lines
from pages.parts.memory_and_time.state import SETTINGS, CostView, several, widget

FORMULAS = Path(__file__).parent / "formulas.md"
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
    """The longest sequence that fits, and the longest that trains in time, for each kind of model."""
    small_table("Tokens in a sequence of the model above", numbers_right(longest_frame(plan, result, view)))
    st.caption(
        f"One training step of this model, batch size {plan.batch_size}, in float32, AdamW, nothing recomputed. Memory: weights,"
        " gradients, optimizer and the numbers saved for the backward pass; the highest moment of a step takes more. Time on one CPU core."
        " ≈: by formula. ~: from your measurement above, whose straight line is drawn on to longer sequences. "
        "*measured only*: there is no formula, and too few lengths were measured above."
    )


def longest_frame(plan: Plan, result: Result | None, view: CostView) -> pd.DataFrame:
    """A row for each kind of model: the longest sequence in memory and in time, and the memory that no sequence takes."""
    along = plan.model_copy(update={"axis": "length"})
    measured = result if result is not None and result.plan == along else None
    rows = [_fitting(along, kind, measured, view) for kind in along.kinds]
    state, pace = "Weights, gradients, optimizer", f"Trains in {view.seconds:g} s per step"
    return pd.DataFrame(
        rows,
        pd.Index([LABELS[kind] for kind in along.kinds], name=MODEL),
        [f"Fits in {in_bytes(view.bytes)}", pace, state],
    )


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
    return [room, pace, in_bytes(state)]


def round_down(count: int) -> int:
    """A number rounded down to two digits: more would suggest too much precision."""
    unit: int = 10 ** max(0, math.floor(math.log10(max(1, count))) - 1)
    return count // unit * unit


# Well-known models


def show_models(view: CostView) -> None:
    st.header("The same numbers for well-known models", anchor=False)
    st.markdown("Nothing is measured here. All numbers are **predicted** from the published sizes.")
    several("models", {name: model.label for name, model in WELL_KNOWN.items()})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in SETTINGS.drawn("precision", "context", "sequences"):
            with st.container(width=330 if name == "precision" else 150):
                widget(name)
        widget("written")
    chosen = [model for name, model in WELL_KNOWN.items() if name in view.models]
    if not chosen:
        st.info("Choose a model.", icon=":material/check_box:")
        return
    predicted = models_frame(
        chosen, view.precision, context=view.context, batch=view.sequences, written=view.written
    ).set_axis([model.label for model in chosen])
    said = "; ".join(f"{label} {in_bytes(size)}" for label, size in predicted["training"].items())
    panel = Panel(
        "costs.models", "One training step of well-known models", scale_figure(predicted, view.bytes), f"Predicted memory: {said}.",
        height=110 + 44 * len(predicted), note=f"By formula. Dashed: the {in_bytes(view.bytes)} asked for above.", wide=True,
    )  # fmt: skip
    panels([panel], key="costs.scale", name="well-known models", subject=",".join(view.models), least=400)
    with st.expander("All numbers: training, and writing with keys and values kept", icon=":material/table_rows:"):
        small_table("Training, predicted", numbers_right(training_frame(chosen, predicted, view)))
        small_table("Writing, predicted", numbers_right(writing_frame(chosen, predicted, view)))
    with st.expander("Formulas and sources", icon=":material/functions:"):
        st.markdown(FORMULAS.read_text("utf-8"))
        for source in dict.fromkeys(model.source for model in chosen):
            st.markdown(f"- {source}")


def training_frame(chosen: list[Published], predicted: pd.DataFrame, view: CostView) -> pd.DataFrame:
    """What training takes, in words: a row for each model."""
    precision = PRECISIONS[view.precision]
    longest = [longest_trained(model, precision, view.bytes, view.sequences, written=view.written) for model in chosen]
    return pd.DataFrame({
        "Parameters": predicted["parameters"].map("{:,}".format),
        "Weights": predicted["weights"].map(in_bytes),
        "Gradients": predicted["gradients"].map(in_bytes),
        "AdamW": predicted["optimizer"].map(in_bytes),
        "Tokens": predicted["context"].map("{:,}".format),
        "Activations": predicted["activations"].map(in_bytes),
        "Together": predicted["training"].map(in_bytes),
        f"Longest in {in_bytes(view.bytes)}": list(map(_tokens, longest)),
    }).rename_axis(MODEL)  # fmt: skip


def writing_frame(chosen: list[Published], predicted: pd.DataFrame, view: CostView) -> pd.DataFrame:
    """What writing with a cache takes, in words: a row for each model."""
    precision = PRECISIONS[view.precision]
    longest = [longest_written(model, precision, view.bytes, view.sequences) for model in chosen]
    return pd.DataFrame({
        "Key-value heads": [f"{model.kv_heads} of {model.heads}" for model in chosen],
        "Cache per token": predicted["cache_per_token"].map(in_bytes),
        "Cache of all": predicted["cache"].map(in_bytes),
        "With the weights": predicted["writing"].map(in_bytes),
        f"Longest in {in_bytes(view.bytes)}": list(map(_tokens, longest)),
    }).rename_axis(MODEL)  # fmt: skip


def _tokens(count: int) -> str:
    return f"{round_down(count):,} tokens" if count else "does not fit"
