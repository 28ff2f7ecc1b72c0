"""Two encodings side by side: shared controls, their formulas and facts, and every figure of both."""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.analysis.encodings import jobs
from engine.analysis.encodings.jobs import TimeForward, Timing
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_parameters
from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.runs.events import Snapshot, layers_kept
from engine.runs.run import Run
from engine.settings.errors import ConfigError
from pages.parts.app import server
from pages.parts.app.frame import as_fragment
from pages.parts.app.in_markdown import as_code, in_markdown
from pages.parts.app.questions import ask, ask_once, asking_threads
from pages.parts.app.recent_runs import shown_run
from pages.parts.app.turn import in_turn, out_of_turn
from pages.parts.boards.panels import Panel, panels
from pages.parts.boards.recorded import RECORDED, recorded_run, run_in_words, run_named, runs_of_visitor
from pages.parts.charts import spectra
from pages.parts.charts.colors import MUTED
from pages.parts.charts.encoding import WHAT, Profile, matrix_figure, similarity_figure, similarity_shown
from pages.parts.charts.spectra import along_figure
from pages.parts.encodings.state import LAYER, MAX_POSITIONS, RUN, SETTINGS, SIDES, STEP, config_of, control, value

# The panels


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

ProfileView = tuple[str, str, Profile, str]
"""Side, name, portrait, colour."""


def matrix_panel(side: str, name: str, profile: Profile, shown: int) -> Panel:
    columns, rows, unit = WHAT[profile["kind"]]
    matrix = profile["matrix"]
    alt = f"{name}: {unit} for each {rows} and {columns}, from {matrix.min():.3g} to {matrix.max():.3g}, {profile['rows']} positions."
    missing, note = shown - profile["rows"], _notes(profile, "matrix_at")
    if missing > 0:
        note = f"There are no rows for the last {missing} positions shown."
    return Panel(
        f"matrix.{side}", f"{TITLES[profile['kind']]}: {name}", matrix_figure(profile, shown), alt, height=250, note=note,
        link="rows", term="positional-encoding",
    )  # fmt: skip


def similarity_panel(side: str, name: str, profile: Profile, likeness: str, shown: int) -> Panel:
    matrix, unit = similarity_shown(profile, likeness)
    alt = f"{name}: {unit} of every two positions, from {matrix.min():.3g} to {matrix.max():.3g}."
    note = _notes(profile, "similarity_at")
    if likeness == "dot" and profile["dot"] is None:
        note = f"It has no vectors of positions to multiply: shown is the {unit}."
    return Panel(
        f"similarity.{side}", f"How alike positions are: {name}", similarity_figure(profile, likeness, shown), alt, height=340,
        note=note, link="cells", term="similarity",
    )  # fmt: skip


def profile_panel(side: str, name: str, profile: Profile, color: str) -> Panel:
    lines, offsets = profile["profile"], profile["offsets"]
    near, far = int(abs(offsets + 1).argmin()), int(offsets.argmin())
    names = [f"head {head + 1}" for head in range(len(lines))] if len(lines) > 1 else [name]
    alt = "; ".join(
        f"{specific}: {line[near]:.3g} at offset {offsets[near]}, {line[far]:.3g} at {offsets[far]}"
        for specific, line in zip(names, lines, strict=True)
    )
    spread = float((profile["high"] - profile["low"]).max())
    note = "Means over the positions."
    if len(lines) == 1:
        note = "The band: from the smallest to the largest over the positions."
    if spread < 1e-4 * max(1.0, float(abs(lines).max())):
        note = "The same at every position: only the offset counts."
    title, drawn = f"Over distance: {name}", spectra.profile_figure(profile, color)
    return Panel(f"profile.{side}", title, drawn, alt, height=260, note=note)


def spectrum_panels(portraits: Sequence[tuple[str, str, Profile]]) -> list[Panel]:
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


def component_panels(side: str, name: str, profile: Profile, color: str) -> list[Panel]:
    """The panels of principal components; none for a bias, which has no vectors."""
    if not len(profile["components"]):
        return []
    shares = ", ".join(f"{100 * share:.0f} %" for share in profile["explained"])
    alt = f"{name}: the first {len(profile['explained'])} principal components hold {shares} of the variance."
    curves, path = spectra.components_figure(profile, color), spectra.trajectory_figure(profile, color)
    return [
        Panel(f"components.{side}", f"Principal components: {name}", curves, alt, height=260, below=alt, term="pca"),
        Panel(f"trajectory.{side}", f"The path of the positions: {name}", path, alt, height=300, term="pca"),
    ]


def picture_panels(views: Sequence[ProfileView], likeness: str, shown: int) -> list[Panel]:
    """The matrices and similarities, row by row: each figure of one side beside the same of the other."""
    return [
        *(matrix_panel(side, name, profile, shown) for side, name, profile, _ in views),
        *(similarity_panel(side, name, profile, likeness, shown) for side, name, profile, _ in views),
    ]


def curve_panels(views: Sequence[ProfileView], *between: Panel, first: str = "") -> list[Panel]:
    """The profiles, the panels ``between``, the spectra and the components. ``first``: the colour of the first side in the spectra, where
    both sides have one colour."""
    named = [(name, first if first and not place else color, p) for place, (_, name, p, color) in enumerate(views)]
    parts = [component_panels(*one) for one in views]
    return [
        *(profile_panel(*one) for one in views),
        *between,
        *spectrum_panels(named),
        *(specific[place] for place in range(2) for specific in parts if specific),
    ]


def order_in_words(profile: Profile) -> str:
    found = profile["order"]
    return "none (all alike)" if math.isnan(found) else f"{found + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _rank(profile: Profile) -> int:
    """The number of singular values that hold 99 % of the sum of squares."""
    energy = profile["singular"] ** 2
    total = float(energy.sum())
    return int((energy.cumsum() < 0.99 * total).sum()) + 1 if total > 0 else 0


def _notes(profile: Profile, at: str) -> str:
    every = int(profile[at][1] - profile[at][0]) if len(profile[at]) > 1 else 1
    ending = {2: "nd", 3: "rd"}.get(every, "th")
    notes = [f"Every {every}{ending} position is shown and saved."] if every > 1 else []
    if profile["only_before"] and (at == "similarity_at" or profile["kind"] == "bias"):
        notes.append("Blank above the diagonal, where no query looks.")
    return " ".join(notes)


def profile_facts(config: RunConfig, profile: Profile, shown: int) -> None:
    row, timing = config.encoding, times().get(config)
    parts = [
        f"**{added_parameters(config, row.name) or 0:,}** extra parameters",
        f"order **{order_in_words(profile)}**",
    ]
    if added := profile["added_scale"]:
        tokens = config.token_init_std
        size = f"**{added / tokens:.2f} ×** as large as the tokens'" if tokens else f"of size **{added:.2f}**"
        parts.append(f"before training it adds numbers {size}")
    if timing:
        interval = f"{timing['low']:.2f} to {timing['high']:.2f}"
        parts.append(f"a forward pass takes **{timing['ratio']:.2f} ×** as long as without ({interval})")
    st.markdown(" · ".join(parts), help=HELP)
    source = f"[{row.source}]({row.url})" if row.url else row.source
    sentences = (PLACES.get(row.acts_on, ""), row.shown_as, beyond(config, profile, shown), f"Source: {source}.")
    st.caption(" ".join(filter(None, sentences)))


def beyond(config: RunConfig, profile: Profile, shown: int) -> str:
    """A sentence on the positions beyond the trained length, as far as the encoding alone determines it."""
    trained, rows = config.seq_len, profile["rows"]
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


# Side by side


SHARED = ("d_model", "n_heads", "seq_len", "reach", "base")
"""What both encodings share."""
SEE = {
    "table": "each row is what one position adds to its token",
    "angles": "each row is how far one position turns queries and keys",
    "vectors": "each row is the vector of one distance or count",
    "bias": "each square is one head, and says what it adds to the score of each pair of positions",
}
"""What the picture of an encoding is, by the kind of its portrait."""
ANSWER_WAIT_SECONDS = 0.15
"""Seconds to wait for the answer to a changed control before the rest of the page is written."""
FOLDED, DEEPER = "encodings.more", "encodings.deeper"
"""Session keys: whether the rarely used controls are open, and whether all figures are."""
LESS_REQUESTED = ("likeness", "sight", "token_init_std", "seed")


def compare() -> None:
    as_fragment(in_turn()(_compare))


def _compare() -> None:
    shown = min(value("seq_len") * value("reach"), MAX_POSITIONS)
    configs, problems = dict[str, RunConfig](), dict[str, str]()
    for side in SIDES:
        try:
            configs[side] = config_of(SETTINGS.values(), side)
        except ConfigError as error:
            problems[side] = in_markdown(error)
    top, waiting, board, words = st.container(), st.empty(), st.container(), st.container()
    with asking_threads(len(SIDES)) as together:
        pictures = _ask(together, jobs.ComputeMatrices, configs, shown)  # quick, and so shown first
        # While workers are starting, the answers do not arrive at once: the page is written meanwhile.
        with out_of_turn():
            at_once = server.pool().health().ready > 0 and not wait(pictures.values(), ANSWER_WAIT_SECONDS).not_done
        if not at_once:
            _controls(top)
            waiting.caption(":material/hourglass_top: The workers are at it; the pictures come with the first of them.")
        views = _found(pictures, problems)
        drawn = _drawn(configs, views)
        waiting.markdown(_what_to_see(names_of({side: configs[side] for side in views}), drawn) if views else "")
        # Sent before anything else is written or asked for, which would slow it down.
        if drawn:
            with board:
                _board("compare", [matrix_panel(side, name, p, shown) for side, name, p, _ in drawn])
        if at_once:
            _controls(top)
        SETTINGS.write_address(SETTINGS.query())
        found = _found(_ask(together, jobs.ComputeProfile, {side: configs[side] for side in views}, shown), problems)
    with words:
        _words(configs, found, problems, shown)
    both = _drawn(configs, found)
    if not both:
        return
    more = st.expander(
        "All figures: likeness, distance, spectra, components", icon=":material/stacks:", key=DEEPER, on_change="rerun"
    )
    if more.open:
        likeness = value("likeness")
        alike = [similarity_panel(side, name, p, likeness, shown) for side, name, p, _ in both]
        with more:
            _board("lines", [*alike, *curve_panels(both)])


def _what_to_see(names: Mapping[str, str], drawn: Sequence[ProfileView]) -> str:
    """One sentence on what the pictures are, and a question to look at them with. ``names``: those of all sides, also without a picture."""
    views = {side: f"in **{name}**, {SEE[profile['kind']]}" for side, name, profile, _ in drawn}
    named = "; ".join(views.get(side, f"**{name}** adds nothing, so it has no picture") for side, name in names.items())
    question = " Where are neighbours alike, and far positions not?" if views else ""
    return f":material/visibility: {named[0].upper()}{named[1:]}.{question}"


def _board(key: str, items: list[Panel]) -> None:
    panels(items, key=f"encodings.{key}", name="encodings", least=440, level=2)


def _ask(
    together: ThreadPoolExecutor, what: Callable[[RunConfig, int], Job[Any]], configs: dict[str, RunConfig], shown: int
) -> dict[str, Future[Profile]]:
    return {side: together.submit(ask_once, what(config, shown)) for side, config in configs.items()}


def _found(answers: dict[str, Future[Profile]], problems: dict[str, str]) -> dict[str, Profile]:
    """The answers that succeeded; the sentences of the others are added to ``problems``."""
    found = {}
    with out_of_turn():
        wait(answers.values())
    for side, answer in answers.items():
        try:
            found[side] = answer.result()
        except JobError as error:
            problems[side] = in_markdown(error)
    return found


def _drawn(configs: dict[str, RunConfig], found: dict[str, Profile]) -> list[ProfileView]:
    """The sides of which there is something to draw: not those that add nothing."""
    labels = names_of({side: configs[side] for side in found})
    return [
        (side, labels[side], p, ENCODINGS[configs[side].pos_encoding].color)
        for side, p in found.items()
        if configs[side].encoding.acts_on != "nowhere"
    ]


def _words(configs: dict[str, RunConfig], found: dict[str, Profile], problems: dict[str, str], shown: int) -> None:
    """Each side's formula and facts, or the reason why there are none."""
    for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
        with column:
            if side in problems:
                st.error(problems[side], icon=":material/error:")
            else:
                config = configs[side]
                st.latex(config.encoding.equation_with_numbers(config, config.encoding_settings))
                profile_facts(config, found[side], shown)
    offer_times([configs[side] for side in found])


def _controls(into: DeltaGenerator) -> None:
    with into, st.container(horizontal=True, vertical_alignment="bottom", key="encodings-sides"):
        for name in SIDES:
            with st.container(width=300):
                control(name)
        _less_requested()


def _in_a_row(names: Sequence[str], width: int) -> None:
    """The controls of settings side by side, each at least so many pixels wide."""
    if drawn := SETTINGS.drawn(*names):
        with st.grid(len(drawn), min_column_width=width):
            for name in drawn:
                control(name)


def _less_requested() -> None:
    rows = SETTINGS.rows()
    specific = {side: [name for name in rows if name.startswith(f"{side}.")] for side in SIDES}
    if not SETTINGS.drawn(*SHARED, *LESS_REQUESTED, *specific["a"], *specific["b"]):
        return
    more = st.popover("Sizes and parameters", icon=":material/tune:", key=FOLDED, on_change="rerun")
    if not more.open:  # half of all controls: they cost nothing until they are opened
        return
    with more:
        _in_a_row(SHARED, 125)
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                if not specific[side]:
                    st.caption(f"{ENCODINGS[value(side)].label} has none of its own.")
                for name in specific[side]:
                    control(name)
        _in_a_row(LESS_REQUESTED, 160)


def names_of(configs: dict[str, RunConfig]) -> dict[str, str]:
    """The labels of the sides; two of one kind get different labels."""
    names = {side: ENCODINGS[config.pos_encoding].label for side, config in configs.items()}
    same = len(set(names.values())) < len(names)
    return {side: f"{name} ({side.upper()})" if same else name for side, name in names.items()}


# Through a run's training


POLL_SECONDS = 2.0
"""Seconds between two checks of a run that trains."""


def through_training() -> None:
    run = _chosen()
    as_fragment(_through, run, every=POLL_SECONDS if run.live else None)


def steps_stored(run: Run) -> tuple[int, ...]:
    """The steps at which a run's encoding was stored."""
    steps = {event.step for event in run.events.of(Snapshot)}
    return tuple(sorted(step for step in steps if run.files.arrays_of(step, "encoding").kept))


def _chosen() -> Run:
    """The recorded run, the one of the link, or one of this visitor's with attention and snapshots."""
    found = runs_of_visitor(lambda run: bool(steps_stored(run)), run_named(value(RUN) or RECORDED), shown_run())
    runs = {RECORDED: recorded_run()} | {name: run for name, run in found.items() if run.config.architecture.attends}
    requested = value(RUN) or RECORDED
    if requested not in runs:
        words = f"run is {as_code(requested)}; no run of that name is kept here. Shown is the recorded one."
        st.warning(words, icon=":material/search_off:")
        requested = RECORDED
    if SETTINGS.drawn(RUN):
        bound = SETTINGS.labelled(RUN, shown=requested)
        st.selectbox(options=list(runs), format_func=lambda name: run_in_words(runs[name]), **bound)
    st.caption(
        "The recorded run and yours of this visit. Train one in the lab, with any encoding, and it is listed here."
    )
    return runs[requested]


def _through(run: Run) -> None:
    SETTINGS.write_address(SETTINGS.query())
    if run.config.encoding.acts_on == "nowhere":
        st.info("This run has no positional encoding: there is nothing to follow.", icon=":material/block:")
        return
    steps = steps_stored(run)
    if len(steps) < 2:
        st.info("No two snapshots of this run are kept yet: train it a little.", icon=":material/hourglass:")
        return
    wanted = steps[-1] if value(STEP) is None else value(STEP)
    step = min(steps, key=lambda kept: abs(kept - wanted))
    slider, likeness = st.columns([3, 1], vertical_alignment="bottom", gap="large")
    with slider:
        if SETTINGS.drawn(STEP):
            st.select_slider(options=steps, **SETTINGS.labelled(STEP, shown=step))
    with likeness:
        control("likeness")
    layers = layers_kept(run.snapshot.encoding) if run.snapshot else 1  # where all share it, and in older runs
    layer = min(max(1, value(LAYER) or 1), layers)
    if layers > 1 and SETTINGS.drawn(LAYER):
        st.segmented_control(options=range(1, layers + 1), required=True, **SETTINGS.labelled(LAYER, shown=layer))
    layer -= 1  # counted from 1 on the page
    try:
        folder = str(run.folder)
        first, then = (
            ask_once(jobs.ComputeProfileOfSnapshot(folder, run.config, at, layer)) for at in (steps[0], step)
        )
        numbers = ask_once(jobs.FollowSnapshots(folder, steps, layer))
        scales = {} if run.live else ask_once(jobs.MeasureFinalScales(folder, layer))
    except JobError as error:
        st.error(in_markdown(error), icon=":material/error:")
        return
    _facts(run, first, then, scales, step, layer if layers > 1 else None)
    items = _panels_through(run, steps, step, first, then, numbers)
    panels(items, key="encodings.training", name="encoding-in-training", least=440, level=2)


def _facts(run: Run, first: Profile, then: Profile, scales: dict[str, float], step: int, layer: int | None) -> None:
    """Facts in words. ``layer``: the layer, where each has its own encoding."""
    row = ENCODINGS[run.config.pos_encoding]
    words = [f"Order at the start {order_in_words(first)}, at step {step:,} {order_in_words(then)}."]
    if "encoding" not in scales and abs(first["matrix"] - then["matrix"]).max() == 0:
        words.append("Nothing of this encoding is learned: it stays as it is.")
    if {"tokens", "encoding"} <= scales.keys():
        ratio = scales["encoding"] / scales["tokens"] if scales["tokens"] else float("nan")
        named = f"{scales['tokens']:.3g} and the encoding's {scales['encoding']:.3g}: a ratio of {ratio:.2f}."
        words.append(f"At the end the tokens' scale is {named}")
    if layer is not None:
        words.append(f"Each layer has its own; shown is that of layer {layer + 1}.")
    elif row.per_layer and run.config.n_layers > 1 and not run.config.share_layers:
        words.append("Each layer has its own; this run kept the first layer's only.")
    st.caption(" ".join([*words, row.shown_as]))


def _panels_through(
    run: Run, steps: tuple[int, ...], step: int, first: Profile, then: Profile, numbers: dict[str, list[float]]
) -> list[Panel]:
    color = ENCODINGS[run.config.pos_encoding].color
    both = (("first", f"step {steps[0]}", first, color), ("then", f"step {step:,}", then, color))
    lines = []
    for name, title, unit in (
        ("order", "Order through training", "correlation with nearness"),
        ("scale", "Scale through training", "root mean square"),
    ):
        line = numbers[name]
        alt = f"{title}: from {line[0]:.3g} at step {steps[0]} to {line[-1]:.3g} at step {steps[-1]:,}."
        drawn = along_figure(steps, line, name, step, unit, color)
        lines.append(Panel(f"{name}.through", title, drawn, alt, height=240, below=alt))
    # The start in grey, to distinguish two curves of one encoding.
    return picture_panels(both, value("likeness"), first["rows"]) + curve_panels(both, *lines, first=MUTED["light"])
