"""The choice of an encoding: the needs in plain words, the encodings that the evidence supports, and the table behind it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.analysis.encoding_jobs import ReadTimes, TimeEncodings
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_flops, added_parameters
from engine.experiments.choice import BAR, NEEDS, PROPERTIES, evidence_table
from engine.experiments.frames import evidence_frame
from engine.foundation.errors import JobError
from engine.foundation.paths import data_folder
from engine.tasks import PLAIN
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import Remembered, ask, ask_once
from pages.parts.app.setting_widget import offer_file
from pages.parts.encodings.evidence import GROUPS, Row, evidence_styled, grouped, row_in_words
from pages.parts.encodings.state import NEEDED, SETTINGS, value, write_address

MODEL = RunConfig(
    task=PLAIN, family="decoder", seq_len=128, d_model=64, n_heads=4, n_layers=2, batch_size=8, device="cpu"
)
"""The model in which parameters and FLOPs are counted and time is measured."""
LEGEND = (
    "From 0 (guessing) to 1 (all right; for longer sequences: all that was there is kept). "
    f"Green: the whole 95 % interval lies above {BAR:g}; red: below it; grey: on both sides, or it says nothing. "
    "FLOPs: floating-point operations of a training step, as a share of those of the model without encoding. "
    "They leave out moving numbers about, which the time holds. "
    f"Counted and timed: a decoder of {MODEL.n_layers} layers, width {MODEL.d_model}, {MODEL.n_heads} heads, at length {MODEL.seq_len}. "
    "Below a forward time: the middle half of its pairs, and the time of a pass; –: not measured on this machine yet. "
    "◆ measured on this machine, ◇ when this version was made. A cell leads to the experiment behind it."
)

_TABLES = Remembered(4)
"""The evidence on every encoding, by what is kept on this machine."""


@st.fragment
def choose() -> None:
    write_address()
    st.markdown("What do you need? The answer is sorted by what experiments on small models found, not by opinion.")
    needs: tuple[str, ...] = value(NEEDED)
    if SETTINGS.drawn(NEEDED):
        bound = SETTINGS.labelled(NEEDED, shown=list(needs))
        st.pills(options=list(NEEDS), format_func=lambda name: NEEDS[name], selection_mode="multi", **bound)
    try:
        rows = rows_now()
    except JobError as error:
        st.error(in_markdown(error), icon=":material/error:")
        return
    if needs:
        _show_ranking(rows, needs)
    st.header("The evidence", anchor="evidence")
    st.table(evidence_styled(rows), border="horizontal", alt="The evidence on each encoding")
    st.caption(LEGEND)
    with st.container(horizontal=True):
        st.button("Measure the time on this machine", icon=":material/timer:", on_click=_measure)
        offer_file(
            "Every number (CSV)",
            lambda: evidence_frame({row.encoding: row.cells for row in rows}).to_csv(index=False),
            "encodings-evidence.csv",
        )
    with st.expander("How each column is measured", icon=":material/help:"):
        for wanted in PROPERTIES:
            share = f" as a share of `{wanted.before}`, both" if wanted.before else ","
            st.markdown(f"**{wanted.label}**: {wanted.task}. Number: `{wanted.metric}`{share} above guessing.")
        st.caption(
            "Only arms that differ in the encoding alone are compared, with its own parameters as they are by default."
        )


def rows_now() -> list[Row]:
    """The rows of the table, read anew once something was measured. Raises JobError where a worker does not tell the times."""
    kept = kept_since()
    times = ask_once(ReadTimes(), kept)
    return [
        Row(
            name := row["encoding"], tuple(row["cells"]), added_parameters(MODEL, name), added_flops(MODEL, name), times.get(name)
        )
        for row in _TABLES.get(kept, evidence_table)
    ]  # fmt: skip


def kept_since() -> tuple[str, ...]:
    """The names and times of the evidence files on this machine; they change when anything is measured."""
    files = [*(data_folder() / "evidence").glob("*/*.json"), data_folder() / "encoding-times.json"]
    return tuple(sorted(f"{file} {file.stat().st_mtime_ns}" for file in files if file.exists()))


def _measure() -> None:
    try:
        ask(TimeEncodings(MODEL, tuple(ENCODINGS)), alone=True, timeout=60.0)
    except JobError as error:
        st.toast(in_markdown(error), icon=":material/error:")


def _show_ranking(rows: list[Row], needs: Sequence[str]) -> None:
    for group, (title, icon) in GROUPS.items():
        found = grouped(rows, needs)[group]
        if not found:
            continue
        st.markdown(f"{icon} **{title}**")
        st.markdown("\n".join(f"- {row_in_words(row, needs)}" for row in found))
    st.caption(
        "The evidence is thin: each number is one small model on one task, over the seeds given. It says what happened there; "
        "measure on your own task before you rely on it."
    )
