"""One encoding's portrait, and two: their panels, and facts in words and numbers, each computed from the settings."""

import math
from collections.abc import Sequence

import streamlit as st

from engine.analysis.encodings.jobs import TimeForward, Timing
from engine.config.run_config import RunConfig
from engine.estimate.prediction import added_parameters
from engine.foundation.errors import JobError
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask
from pages.parts.boards.panels import Panel
from pages.parts.charts import spectra
from pages.parts.charts.encoding import WHAT, Portrait, matrix_figure, similarity_figure, similarity_shown

TITLES = {"table": "The table", "angles": "The angles", "vectors": "The vectors", "bias": "The bias of each head"}
PLACES = {
    "nowhere": "Adds nothing: only a causal mask can then tell positions apart.",
    "embedding": "Added to the token embedding, once.",
    "scores": "Added to every score, in each layer.",
    "rotation": "Turns queries and keys, in each layer.",
}
HELP = (
    "Parameters: what it adds to a model of one layer. "
    "Order: the correlation of the similarity with −|i − j| over the trained positions; "
    "1 where it falls in a straight line with distance, 0 where it has nothing to do with it. "
    "Size of numbers: root mean square over random tokens. Time: 8 sequences of the trained length on the CPU, "
    "in turns with the same model without encoding; the middle half of the pairs."
)
TIMES = "encodings.times"
"""The session key of the measured times: config to timing."""

Seen = tuple[str, str, Portrait, str]
"""Side, name, portrait, colour."""


def matrix_panel(side: str, name: str, portrait: Portrait, shown: int) -> Panel:
    columns, rows, unit = WHAT[portrait["kind"]]
    matrix = portrait["matrix"]
    alt = f"{name}: {unit} for each {rows} and {columns}, from {matrix.min():.3g} to {matrix.max():.3g}, {portrait['rows']} positions."
    missing, note = shown - portrait["rows"], _notes(portrait, "matrix_at")
    if missing > 0:
        note = f"There are no rows for the last {missing} positions shown."
    return Panel(
        f"matrix.{side}", f"{TITLES[portrait['kind']]}: {name}", matrix_figure(portrait, shown), alt, height=250, note=note,
        link="rows", term="positional-encoding",
    )  # fmt: skip


def similarity_panel(side: str, name: str, portrait: Portrait, likeness: str, shown: int) -> Panel:
    matrix, unit = similarity_shown(portrait, likeness)
    alt = f"{name}: {unit} of every two positions, from {matrix.min():.3g} to {matrix.max():.3g}."
    note = _notes(portrait, "similarity_at")
    if likeness == "dot" and portrait["dot"] is None:
        note = f"It has no vectors of positions to multiply: shown is the {unit}."
    return Panel(
        f"similarity.{side}", f"How alike positions are: {name}", similarity_figure(portrait, likeness, shown), alt, height=340,
        note=note, link="cells", term="similarity",
    )  # fmt: skip


def profile_panel(side: str, name: str, portrait: Portrait, color: str) -> Panel:
    lines, offsets = portrait["profile"], portrait["offsets"]
    near, far = int(abs(offsets + 1).argmin()), int(offsets.argmin())
    names = [f"head {head + 1}" for head in range(len(lines))] if len(lines) > 1 else [name]
    alt = "; ".join(
        f"{own}: {line[near]:.3g} at offset {offsets[near]}, {line[far]:.3g} at {offsets[far]}"
        for own, line in zip(names, lines, strict=True)
    )
    spread = float((portrait["high"] - portrait["low"]).max())
    note = "Means over the positions."
    if len(lines) == 1:
        note = "The band: from the smallest to the largest over the positions."
    if spread < 1e-4 * max(1.0, float(abs(lines).max())):
        note = "The same at every position: only the offset counts."
    title, drawn = f"Over distance: {name}", spectra.profile_figure(portrait, color)
    return Panel(f"profile.{side}", title, drawn, alt, height=260, note=note)


def spectrum_panels(portraits: Sequence[tuple[str, str, Portrait]]) -> list[Panel]:
    """The spectra of both encodings: (name, colour, portrait) each."""
    ranks = "; ".join(f"{name}: {_rank(p)} of {len(p['singular'])} hold 99 % of the energy" for name, _, p in portraits)
    peaks = "; ".join(
        f"{name}: most power at {p['frequencies'][p['power'].argmax()]:.3g} cycles a position"
        for name, _, p in portraits
    )
    note = "Up to the trained length. Angles count by their cosines and sines, a bias by its mean over the heads."
    return [
        Panel(id, title, draw(portraits), words, height=280, note=note, below=words, term="spectrum")
        for id, title, draw, words in (
            ("singular.both", "Singular values", spectra.singular_figure, ranks),
            ("fourier.both", "Fourier spectrum over positions", spectra.fourier_figure, peaks),
        )
    ]


def component_panels(side: str, name: str, portrait: Portrait, color: str) -> list[Panel]:
    """The panels of principal components; none for a bias, which has no vectors."""
    if not len(portrait["components"]):
        return []
    shares = ", ".join(f"{100 * share:.0f} %" for share in portrait["explained"])
    alt = f"{name}: the first {len(portrait['explained'])} principal components hold {shares} of the variance."
    curves, path = spectra.components_figure(portrait, color), spectra.trajectory_figure(portrait, color)
    return [
        Panel(f"components.{side}", f"Principal components: {name}", curves, alt, height=260, below=alt, term="pca"),
        Panel(f"trajectory.{side}", f"The path of the positions: {name}", path, alt, height=300, term="pca"),
    ]


def picture_panels(seen: Sequence[Seen], likeness: str, shown: int) -> list[Panel]:
    """The matrices and similarities, row by row: each figure of one side beside the same of the other."""
    return [
        *(matrix_panel(side, name, portrait, shown) for side, name, portrait, _ in seen),
        *(similarity_panel(side, name, portrait, likeness, shown) for side, name, portrait, _ in seen),
    ]


def curve_panels(seen: Sequence[Seen], *between: Panel, first: str = "") -> list[Panel]:
    """The profiles, the panels ``between``, the spectra and the components. ``first``: the colour of the first side in the spectra, where
    both sides have one colour."""
    told = [(name, first if first and not place else color, p) for place, (_, name, p, color) in enumerate(seen)]
    parts = [component_panels(*one) for one in seen]
    return [
        *(profile_panel(*one) for one in seen),
        *between,
        *spectrum_panels(told),
        *(own[place] for place in range(2) for own in parts if own),
    ]


def order_in_words(portrait: Portrait) -> str:
    found = portrait["order"]
    return "none (all alike)" if math.isnan(found) else f"{found + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _rank(portrait: Portrait) -> int:
    """The number of singular values that hold 99 % of the sum of squares."""
    energy = portrait["singular"] ** 2
    total = float(energy.sum())
    return int((energy.cumsum() < 0.99 * total).sum()) + 1 if total > 0 else 0


def _notes(portrait: Portrait, at: str) -> str:
    every = int(portrait[at][1] - portrait[at][0]) if len(portrait[at]) > 1 else 1
    ending = {2: "nd", 3: "rd"}.get(every, "th")
    notes = [f"Every {every}{ending} position is shown and saved."] if every > 1 else []
    if portrait["only_before"] and (at == "similarity_at" or portrait["kind"] == "bias"):
        notes.append("Blank above the diagonal, where no query looks.")
    return " ".join(notes)


def portrait_facts(config: RunConfig, portrait: Portrait, shown: int) -> None:
    row, timing = config.encoding, times().get(config)
    parts = [
        f"**{added_parameters(config, row.name) or 0:,}** extra parameters",
        f"order **{order_in_words(portrait)}**",
    ]
    if added := portrait["added_scale"]:
        tokens = config.token_init_std
        size = f"**{added / tokens:.2f} ×** as large as the tokens'" if tokens else f"of size **{added:.2f}**"
        parts.append(f"before training it adds numbers {size}")
    if timing:
        interval = f"{timing['low']:.2f} to {timing['high']:.2f}"
        parts.append(f"a forward pass takes **{timing['ratio']:.2f} ×** as long as without ({interval})")
    st.markdown(" · ".join(parts), help=HELP)
    source = f"[{row.source}]({row.url})" if row.url else row.source
    sentences = (PLACES.get(row.acts_on, ""), row.shown_as, beyond(config, portrait, shown), f"Source: {source}.")
    st.caption(" ".join(filter(None, sentences)))


def beyond(config: RunConfig, portrait: Portrait, shown: int) -> str:
    """A sentence on the positions beyond the trained length, as far as the encoding alone determines it."""
    trained, rows = config.seq_len, portrait["rows"]
    if shown <= trained or config.encoding.acts_on == "nowhere":
        return ""
    if rows < shown:
        return f"Position {rows + 1} has no row: a sequence longer than {rows} cannot be read at all."
    return f"It is defined up to position {shown}; nothing beyond {trained} was met in training."


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
        found = ask(TimeForward(tuple(configs)), alone=True, timeout=30.0)
    except JobError as error:
        st.toast(in_markdown(error), icon=":material/error:")
    else:
        times().update(zip(configs, found, strict=True))
