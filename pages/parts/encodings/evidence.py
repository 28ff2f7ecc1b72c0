"""The choice of an encoding: the needs in plain words, the encodings in the order and wording that the evidence supports, and the table
behind it, each cell a link to the experiment behind it. All findings are computed from the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler
from pandas.io.formats.style_render import CSSDict

from engine.analysis.encodings.jobs import ReadTimes, TimeEncodings, Timing
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_flops, added_parameters
from engine.experiments.choice import BAR, NEEDS, PROPERTIES, Cell, evidence_table
from engine.experiments.frames import evidence_frame
from engine.foundation.errors import JobError
from engine.foundation.files import data_folder
from engine.foundation.job import Answer, Job
from engine.tasks import PLAIN
from pages.parts.app.in_markdown import escaped, in_markdown
from pages.parts.app.questions import Remembered, ask, ask_once
from pages.parts.app.setting_widget import offer_file
from pages.parts.charts.table import whole_lines
from pages.parts.encodings.state import NEEDED, SETTINGS, value

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
Group = Literal["supported", "open", "against"]
GROUPS: dict[Group, tuple[str, str]] = {
    "supported": ("The evidence supports", ":material/check_circle:"),
    "open": ("Not all of it is known", ":material/help:"),
    "against": ("The evidence is against", ":material/cancel:"),
}
AGAINST = {"against", "no row"}
GOOD = "background: color-mix(in srgb, #1A7F4B 22%, transparent)"
BAD = "background: color-mix(in srgb, #C6313B 20%, transparent)"
OPEN = "background: color-mix(in srgb, currentColor 12%, transparent)"
LOOKS = {
    "supported": GOOD, "against": BAD, "no row": BAD, "open": OPEN, "not learned": OPEN, "not measured": "opacity: 0.75",
}  # fmt: skip
"""The style of a cell by its finding."""
MARK = {"this machine": " ◆", "this version": " ◇", None: ""}
DOT = "content: ''; display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .45em"
COUNTED = ["Extra parameters", "Extra FLOPs", "Forward time"]
STYLES: list[CSSDict] = [
    {"selector": "a", "props": "color: inherit !important; text-decoration: none !important"},
    {"selector": "a:hover, a:focus", "props": "text-decoration: underline !important"},
    {"selector": "tbody th, thead th", "props": "color: inherit; font-weight: 600"},
]


@dataclass(frozen=True)
class Row:
    """An encoding with its cells, in the order of the properties."""

    encoding: str
    cells: tuple[Cell, ...]
    parameters: int | None
    flops: float | None
    """The added FLOPs as a share of the model's; None where the encoding does not go with this model."""
    timing: Timing | None
    """The time of a forward pass relative to no encoding; None where it was not measured on this machine."""

    def cell(self, quality: str) -> Cell | None:
        return next((cell for cell in self.cells if cell["quality"] == quality), None)


@st.fragment
def choose() -> None:
    SETTINGS.write_address(SETTINGS.query())
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
        cells = {row.encoding: row.cells for row in rows}
        offer_file("Every number (CSV)", lambda: evidence_frame(cells).to_csv(index=False), "encodings-evidence.csv")
    with st.expander("How each column is measured", icon=":material/help:"):
        for wanted in PROPERTIES:
            share = f" as a share of `{wanted.before}`, both" if wanted.before else ","
            st.markdown(f"**{wanted.label}**: {wanted.task}. Number: `{wanted.metric}`{share} above guessing.")
        same = "with its own parameters as they are by default"
        st.caption(f"Only arms that differ in the encoding alone are compared, {same}.")


def rows_now() -> list[Row]:
    """The rows of the table, read anew once something was measured. Raises JobError where a worker does not tell the times."""
    files = [*(data_folder() / "evidence").glob("*/*.json"), data_folder() / "encoding-times.json"]
    # The names and times of the files of this machine, which change when anything is measured.
    kept = tuple(sorted(f"{file} {file.stat().st_mtime_ns}" for file in files if file.exists()))
    times = ask_once(ReadTimes(), kept)
    table = {row["encoding"]: tuple(row["cells"]) for row in _TABLES.get(kept, evidence_table)}
    return [
        Row(name, cells, added_parameters(MODEL, name), added_flops(MODEL, name), times.get(name))
        for name, cells in table.items()
    ]


def _measure() -> None:
    ask_alone(TimeEncodings(MODEL, tuple(ENCODINGS)), timeout=60.0)


def ask_alone(job: Job[Answer], timeout: float = 30.0) -> Answer | None:
    """The answer of a worker that does nothing else meanwhile; None, and a word on the screen, where it fails."""
    try:
        return ask(job, alone=True, timeout=timeout)
    except JobError as error:
        st.toast(in_markdown(error), icon=":material/error:")
        return None


def _show_ranking(rows: list[Row], needs: Sequence[str]) -> None:
    for group, (title, icon) in GROUPS.items():
        if found := grouped(rows, needs)[group]:
            st.markdown(f"{icon} **{title}**")
            st.markdown("\n".join(f"- {row_in_words(row, needs)}" for row in found))
    st.caption(
        "The evidence is thin: each number is one small model on one task, over the seeds given. It says what happened there; "
        "measure on your own task before you rely on it."
    )


# Sorted and in words


def grouped(rows: Sequence[Row], needs: Sequence[str]) -> dict[Group, list[Row]]:
    """The rows by group; in each the fewest parameters or the least time first, if needed, then the highest lowest cell."""

    def rank(row: Row) -> tuple[float, ...]:
        costs = []
        if "parameters" in needs:
            costs.append(float("inf") if row.parameters is None else float(row.parameters))
        if "time" in needs:
            costs.append(row.timing["ratio"] if row.timing else float("inf"))
        known = [cell["value"] for need in needs if (cell := row.cell(need)) is not None and cell["value"] is not None]
        return (*costs, -len(known), -min(known, default=0.0))

    found: dict[Group, list[Row]] = {group: [] for group in GROUPS}
    for row in sorted(rows, key=rank):
        states = {cell["state"] for need in needs if (cell := row.cell(need)) is not None}
        found["against" if states & AGAINST else "supported" if states <= {"supported"} else "open"].append(row)
    return found


def row_in_words(row: Row, needs: Sequence[str]) -> str:
    labels = {wanted.slug: wanted.label.lower() for wanted in PROPERTIES}
    parts = [f"{labels[need]} {cell_in_words(cell)}" for need in needs if (cell := row.cell(need)) is not None]
    if "parameters" in needs:
        parts.append("does not fit this model" if row.parameters is None else f"{row.parameters:,} extra parameters")
    if "time" in needs:
        if row.flops is not None:
            parts.append(f"{share_in_words(row.flops)} extra FLOPs a token")
        parts.append(f"{row.timing['ratio']:.2f} × the time" if row.timing else "time not measured on this machine")
    return f"**{ENCODINGS[row.encoding].label}**: " + "; ".join(parts)


def share_in_words(share: float) -> str:
    """A share of the model's FLOPs in words."""
    if share and share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share else "0 %"


def cell_in_words(cell: Cell) -> str:
    if cell["state"] == "not measured":
        return "not measured"
    if cell["state"] == "no row":
        return f"cannot be run there ({cell['seeds']} seeds)"
    if cell["state"] == "not learned":
        return f"says nothing: the task was not learned at the trained length ({cell['number_before']:.2f}, {cell['seeds']} seeds)"
    interval = f"{cell['ci'][0]:.2f} to {cell['ci'][1]:.2f}, " if cell["ci"] else ""
    return f"{cell['value']:.2f} ({interval}{cell['seeds']} seed{'s' if cell['seeds'] != 1 else ''})"


# The table


def evidence_styled(rows: Sequence[Row]) -> Styler:
    """A row for each encoding and a column for each property and cost, as Markdown on the colours of the findings."""
    frame = pd.DataFrame(
        [[*map(_cell, row.cells), *_costs(row)] for row in rows],
        index=pd.Index([escaped(ENCODINGS[row.encoding].label) for row in rows], name="Encoding"),
        columns=[*(wanted.label for wanted in PROPERTIES), *COUNTED],
    )
    looks = [[*(LOOKS[cell["state"]] for cell in row.cells), *[""] * len(COUNTED)] for row in rows]
    shade = pd.DataFrame(looks, index=frame.index, columns=frame.columns)
    return whole_lines(frame, [*STYLES, *_dots(rows)]).apply(lambda _: shade, axis=None)


def _dots(rows: Sequence[Row]) -> list[CSSDict]:
    """A dot in the colour of the encoding before its name. It is no text, so that a screen reader does not read it."""
    return [
        {"selector": f"tbody tr:nth-child({place}) th p::before", "props": f"{DOT}; background: {ENCODINGS[row.encoding].color}"}
        for place, row in enumerate(rows, start=1)
    ]  # fmt: skip


def _costs(row: Row) -> list[str]:
    return [
        "–" if row.parameters is None else f"{row.parameters:,}",
        "–" if row.flops is None else escaped(share_in_words(row.flops)),
        _time(row.timing),
    ]


def _cell(cell: Cell) -> str:
    """A link in Markdown to the experiment behind the cell, with all facts on hover."""
    link = ("issues?" if "issue" in cell["query"] else "lab?") + urlencode(cell["query"])
    words = escaped(hover(cell)).replace('"', '\\"')
    return f'[{_short(cell)}{MARK[cell["origin"]]}]({link} "{words}")'


def _short(cell: Cell) -> str:
    said = {
        "not measured": "Run it" if cell["arm"] else "Try it",
        "no row": "cannot be run",
        "not learned": "not learned",
    }
    return said.get(cell["state"]) or f"{cell['value']:.2f}"


def hover(cell: Cell) -> str:
    """All facts behind a cell, in a sentence or two."""
    if cell["state"] == "not measured":
        if cell["arm"]:
            return f"Not measured yet. Opens the experiment with the arm “{cell['arm']}”; it starts when you press Run."
        return "No experiment has an arm with this encoding. Opens the lab with the same settings; it starts when you press Train."
    raw = f"Number {cell['number']:.3f}" if cell["number"] is not None else "No number"
    before = f", {cell['number_before']:.3f} at the trained length" if cell["number_before"] is not None else ""
    where = "on this machine" if cell["origin"] == "this machine" else "when this version was made"
    return f"{cell_in_words(cell)}. {raw}{before}; guessing gives {cell['chance']:.3f}. Arm “{cell['arm']}”, measured {where}."


def _time(timing: Timing | None) -> str:
    if timing is None:
        return "–"
    within = f"{timing['low']:.2f} to {timing['high']:.2f}, {timing['seconds'] * 1e3:.2g} ms"
    return f"{timing['ratio']:.2f} ×{MARK['this machine']}  \n:small[{within}]"
