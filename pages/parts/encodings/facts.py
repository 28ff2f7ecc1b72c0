"""What is to be known of an encoding in words and numbers, each computed from the settings."""

from __future__ import annotations

import streamlit as st

from engine.config import RunConfig
from engine.encodings import ENCODINGS
from engine.predict import added_parameters
from engine.workers.pool import JobError
from pages.parts import server
from pages.parts.encodings.asked import Portrait
from pages.parts.encodings.panels import order_in_words

PLACES = {
    "nowhere": "Adds nothing.",
    "embedding": "Added to the token embedding, once.",
    "scores": "Added to every score, in each layer.",
    "rotation": "Turns queries and keys, in each layer.",
}
TIMES = "encodings.times"
"""Session key of the times measured: config to timing."""


def show_facts(side: str, config: RunConfig, portrait: Portrait, shown: int) -> None:
    row = ENCODINGS[config.pos_encoding]
    times = st.session_state.setdefault(TIMES, {})
    with st.container(horizontal=True, gap="medium"):
        st.metric(
            "Extra parameters", f"{added_parameters(config, row.name) or 0:,}", help="In this model of one layer."
        )
        st.metric(
            "Order", "–" if portrait["order"] != portrait["order"] else f"{portrait['order']:.2f}",
            help="Correlation of the similarity with −|i − j| over the trained positions: 1 where it falls in a straight line with "
            f"distance, 0 where it has nothing to do with it. Here: {order_in_words(portrait)}.",
        )  # fmt: skip
        if portrait["added_scale"]:
            st.metric(
                "Scale ÷ tokens' scale", f"{portrait['added_scale'] / portrait['token_scale']:.2f}" if portrait["token_scale"] else "–",
                help=f"Root mean square of what is added: {portrait['added_scale']:.3g}; of the tokens: {portrait['token_scale']:.3g}, at the start.",
            )  # fmt: skip
        timing = times.get(config)
        st.metric(
            "Time of a forward pass", f"{timing.ratio:.2f} ×" if timing else "–",
            help=f"Beside the same model without encoding, 8 sequences of the trained length: {timing.seconds * 1e3:.2g} ms; "
            f"half of the pairs lie between {timing.low:.2f} and {timing.high:.2f}." if timing else "Not measured yet with these settings.",
        )  # fmt: skip
    sentences = [
        PLACES.get(row.acts_on, ""),
        row.shown_as if portrait["on_content"] or row.shown_as else "",
        beyond(config, portrait, shown),
    ]
    st.caption(" ".join(filter(None, sentences)) + f" Source: {row.source}.")
    if config not in times:
        st.button(
            "Measure the time", key=f"encodings.time.{side}", icon=":material/timer:", on_click=_measure, args=(config,)
        )


def beyond(config: RunConfig, portrait: Portrait, shown: int) -> str:
    """What there is beyond the trained length, as far as the encoding itself goes."""
    trained, rows = config.seq_len, portrait["rows"]
    if shown <= trained:
        return ""
    if rows < shown:
        return f"Position {rows} has no row: a sequence longer than {rows} cannot be read at all."
    return f"It is defined up to position {shown - 1}; nothing beyond {trained - 1} was met in training."


def _measure(config: RunConfig) -> None:
    try:
        (timing,) = server.pool().ask("engine.explore.forward_time:forward_times", [config], alone=True)
    except JobError as error:
        st.toast(str(error), icon=":material/error:")
        return
    st.session_state[TIMES][config] = timing
