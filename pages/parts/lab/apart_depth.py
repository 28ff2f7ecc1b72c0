"""The view “Depth”: the effect of a trained model's layers on positions, next to the same model before training."""

import streamlit as st

from engine.analysis.attention.requests import ModelRequest
from engine.analysis.depth.jobs import MeasureRunDepth
from pages.parts.app.questions import ask_once
from pages.parts.boards.depth import depth_panels
from pages.parts.charts.colors import color_of
from pages.parts.charts.depth import DepthLine
from pages.parts.lab.apart_state import Inspected


def show_depth(at: Inspected) -> None:
    config = at.config
    if config.family == "encoder_decoder":
        st.info(
            "This run has two stacks, an encoder and a decoder; this view needs a model with one stack.",
            icon=":material/info:",
        )
        return
    after, before = ask_once(MeasureRunDepth(at.model)), ask_once(MeasureRunDepth(ModelRequest(config)))
    lines = [DepthLine("Trained", [after], color_of(config)), DepthLine("Untrained", [before])]
    items = depth_panels(lines, config.n_layers, config.norm, height=270, mark=False)
    at.show("depth", "effect of depth", items, least=380, level=2)
    here = {
        "pos_encoding": config.pos_encoding,
        "skips": str(config.skips).lower(),
        "mlp": str(config.mlp).lower(),
        "norm": config.norm,
    }
    st.page_link("depth.py", label="Other depths, before training", icon=":material/layers:", query_params=here)
