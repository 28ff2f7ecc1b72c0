"""Facts about an encoding in words and numbers, each computed from the settings."""

from __future__ import annotations

import streamlit as st

from engine.analysis.encoding_jobs import TimeForward, Timing
from engine.config.run_config import RunConfig
from engine.estimate.prediction import added_flops, added_parameters
from engine.workers.errors import JobError
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask
from pages.parts.charts.portrait import Portrait
from pages.parts.encodings.panels import order_in_words
from pages.parts.encodings.ranking import share_in_words

PLACES = {
    "nowhere": "Adds nothing.",
    "embedding": "Added to the token embedding, once.",
    "scores": "Added to every score, in each layer.",
    "rotation": "Turns queries and keys, in each layer.",
}
HELP = (
    "Parameters and FLOPs (floating-point operations of a training step): what it adds to a model of one layer. "
    "Order: the correlation of the similarity with −|i − j| over the trained positions; "
    "1 where it falls in a straight line with distance, 0 where it has nothing to do with it. "
    "Scale: root mean square over random tokens. Time: 8 sequences of the trained length on the CPU, "
    "in turns with the same model without encoding; the middle half of the pairs."
)
TIMES = "encodings.times"
"""The session key of the measured times: config to timing."""


def show_facts(config: RunConfig, portrait: Portrait, shown: int) -> None:
    row, timing = config.encoding, times().get(config)
    parts = [
        f"**{added_parameters(config, row.name) or 0:,}** extra parameters",
        f"**{share_in_words(added_flops(config, row.name) or 0.0)}** extra FLOPs a token",
        f"order **{order_in_words(portrait)}**",
    ]
    if portrait["added_scale"]:
        added, tokens = portrait["added_scale"], portrait["token_scale"]
        ratio = f": a ratio of **{added / tokens:.2f}**" if tokens else ""
        parts.append(f"starts at a scale of **{added:.2f}** beside the tokens' **{tokens:.2f}**{ratio}")
    if timing:
        parts.append(
            f"a forward pass takes **{timing['ratio']:.2f} ×** as long as without ({timing['low']:.2f} to {timing['high']:.2f})"
        )
    st.markdown(" · ".join(parts), help=HELP)
    sentences = (PLACES.get(row.acts_on, ""), row.shown_as, beyond(config, portrait, shown), f"Source: {row.source}.")
    st.caption(" ".join(filter(None, sentences)))


def beyond(config: RunConfig, portrait: Portrait, shown: int) -> str:
    """A sentence on the positions beyond the trained length, as far as the encoding alone determines it."""
    trained, rows = config.seq_len, portrait["rows"]
    if shown <= trained:
        return ""
    if rows < shown:
        return f"Position {rows} has no row: a sequence longer than {rows} cannot be read at all."
    return f"It is defined up to position {shown - 1}; nothing beyond {trained - 1} was met in training."


def times() -> dict[RunConfig, Timing]:
    found: dict[RunConfig, Timing] = st.session_state.setdefault(TIMES, {})
    return found


def offer_times(configs: list[RunConfig]) -> None:
    """A button that measures the missing times, on a worker that then does nothing else."""
    missing = [config for config in configs if config not in times()]
    if missing:
        st.button("Measure the time of a forward pass", icon=":material/timer:", on_click=_measure, args=(missing,))


def _measure(configs: list[RunConfig]) -> None:
    try:
        found = ask(TimeForward(tuple(configs)), alone=True)
    except JobError as error:
        st.toast(in_markdown(error), icon=":material/error:")
        return
    times().update(zip(configs, found, strict=True))
