"""Facts before training: parameters, memory, time, and warnings."""

from __future__ import annotations

import streamlit as st

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.estimate.warnings import warnings_of
from engine.foundation.formatting import in_bytes, in_time


def show_facts(config: RunConfig) -> None:
    prediction = predict(config)
    facts = [f"**{prediction.parameters:,}** parameters", f"**{in_bytes(prediction.memory.total)}** for a step"]
    seconds = prediction.seconds(config.steps)
    if seconds is not None:
        facts.append(f"about **{in_time(seconds)}**")
    st.caption(
        " · ".join(facts), help="Predicted: memory by formula, time from a short measurement on one CPU core here."
    )
    for sentence in warnings_of(config):
        st.caption(f":material/info: {sentence}")
