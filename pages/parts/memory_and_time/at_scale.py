"""The memory of well-known models in training and in writing, by formula."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from engine.estimate.at_scale import PRECISIONS, longest_trained, longest_written
from engine.estimate.frames import models_frame
from engine.estimate.published import WELL_KNOWN, Published
from engine.foundation.formatting import in_bytes
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.costs import scale_figure
from pages.parts.charts.table import numbers_right
from pages.parts.memory_and_time.form import models, widget
from pages.parts.memory_and_time.state import SETTINGS, CostView
from pages.parts.memory_and_time.tables import MODEL, round_down, small_table

FORMULAS = Path(__file__).parent / "formulas.md"


def show_models(view: CostView) -> None:
    st.header("The same numbers for well-known models", anchor=False)
    st.markdown("Nothing is measured here: everything follows from the published sizes. **Predicted**, all of it.")
    models()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in SETTINGS.drawn("precision", "context", "sequences"):
            with st.container(width=330 if name == "precision" else 150):
                widget(name)
        widget("written")
    chosen = [WELL_KNOWN[name] for name in view.models]
    if not chosen:
        st.info("Choose a model.", icon=":material/check_box:")
        return
    predicted = models_frame(
        chosen, view.precision, context=view.context, batch=view.sequences, written=view.written
    ).set_axis([model.label for model in chosen])
    panels(
        [_panel(predicted, view)], key="costs.scale", name="well-known models", subject=",".join(view.models), least=400
    )
    small_table("Training, predicted", numbers_right(training_frame(chosen, predicted, view)))
    small_table("Writing with keys and values kept, predicted", numbers_right(writing_frame(chosen, predicted, view)))
    _sources(chosen, view)


def _panel(predicted: pd.DataFrame, view: CostView) -> Panel:
    said = "; ".join(f"{label} {in_bytes(size)}" for label, size in predicted["training"].items())
    return Panel(
        "costs.models", "One training step of well-known models", scale_figure(predicted, view.bytes), f"Predicted memory: {said}.",
        height=110 + 44 * len(predicted), note=f"By formula. Dashed: the {in_bytes(view.bytes)} asked for above.", wide=True,
    )  # fmt: skip


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
        "Cache a token": predicted["cache_per_token"].map(in_bytes),
        "Cache of all": predicted["cache"].map(in_bytes),
        "With the weights": predicted["writing"].map(in_bytes),
        f"Longest in {in_bytes(view.bytes)}": list(map(_tokens, longest)),
    }).rename_axis(MODEL)  # fmt: skip


def _tokens(count: int) -> str:
    return f"{round_down(count):,} tokens" if count else "does not fit"


def _sources(chosen: list[Published], view: CostView) -> None:
    with st.expander("Formulas and sources", icon=":material/functions:"):
        st.markdown(FORMULAS.read_text("utf-8"))
        for source in dict.fromkeys(model.source for model in chosen):
            st.markdown(f"- {source}")
