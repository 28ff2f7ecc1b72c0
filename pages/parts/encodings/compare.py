"""Two encodings side by side: shared controls, their formulas and facts, and every figure of both."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.analysis.encodings import jobs
from engine.analysis.encodings.jobs import TimeForward, Timing
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.encodings.designed import DesignedSettings
from engine.estimate.prediction import added_parameters
from engine.experiments.comparison import DESIGN
from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.settings.errors import ConfigError
from pages.parts.app import server
from pages.parts.app.frame import as_fragment
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask, ask_once, asking_threads
from pages.parts.app.turn import in_turn, out_of_turn
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.encoding import (
    AXES_OF_KIND,
    Profile,
    matrix_figure,
    profile_figure,
    similarity_figure,
    similarity_for,
)
from pages.parts.encodings.design import numbers_of, offer_design, parts_form, show_design
from pages.parts.encodings.state import MAX_POSITIONS, PARTS, SETTINGS, SIDES, config_of, control, design_of, value

TITLES = {
    "table": "numbers added",
    "angles": "rotation",
    "vectors": "vector per distance or count",
    "bias": "bias added to the scores",
}
ACTS_ON = {
    "nowhere": "Adds nothing. Only a causal mask can then show the order.",
    "embedding": "Added to the token embedding, once.",
    "scores": "Added to every score, in each layer.",
    "rotation": "Rotates queries and keys, in each layer.",
}
HELP = (
    "Parameters: in a model of one layer. "
    "Correlation: between similarity and nearness, over the trained positions. "
    "It is 1 if similarity falls linearly with distance, and 0 if the two are unrelated. "
    "Size: root mean square over random tokens. "
    "Time: 8 sequences of the trained length on the CPU, relative to a model without encoding. The range is the middle half of the pairs."
)
TIMES = "encodings.times"  # session key: config to timing

ProfileView = tuple[str, str, Profile, str]  # side, name, profile, colour


def matrix_panel(side: str, name: str, profile: Profile, n_positions: int) -> Panel:
    columns, rows, unit = AXES_OF_KIND[profile["kind"]]
    matrix = profile["matrix"]
    alt = f"{name}: {unit} for each {rows} and {columns}, from {matrix.min():.3g} to {matrix.max():.3g}, {profile['rows']} positions."
    missing, note = n_positions - profile["rows"], _notes(profile, "matrix_at")
    if missing > 0:
        note = f"The last {missing} positions have no rows."
    return Panel(
        f"matrix.{side}", f"{name}: {TITLES[profile['kind']]}", matrix_figure(profile, n_positions), alt, height=250, note=note,
        link="rows", term="positional-encoding",
    )  # fmt: skip


def similarity_panel(side: str, name: str, profile: Profile, similarity_kind: str, n_positions: int) -> Panel:
    matrix, unit = similarity_for(profile, similarity_kind)
    alt = f"{name}: {unit} of every two positions, from {matrix.min():.3g} to {matrix.max():.3g}."
    note = _notes(profile, "similarity_at")
    if similarity_kind == "dot" and profile["dot"] is None:
        note = f"It has no position vectors to multiply. The figure shows the {unit}."
    return Panel(
        f"similarity.{side}", f"Similarity of positions: {name}", similarity_figure(profile, similarity_kind, n_positions), alt, height=340,
        note=note, link="cells", term="similarity",
    )  # fmt: skip


def profile_panel(side: str, name: str, profile: Profile, color: str) -> Panel:
    lines, offsets = profile["profile"], profile["offsets"]
    near, far = int(abs(offsets + 1).argmin()), int(offsets.argmin())
    names = [f"head {head + 1}" for head in range(len(lines))] if len(lines) > 1 else [name]
    alt = "; ".join(
        f"{line_name}: {line[near]:.3g} at offset {offsets[near]}, {line[far]:.3g} at {offsets[far]}"
        for line_name, line in zip(names, lines, strict=True)
    )
    spread = float((profile["high"] - profile["low"]).max())
    note = "Means over the positions."
    if len(lines) == 1:
        note = "Line: mean over the positions. Band: from the smallest to the largest."
    if spread < 1e-4 * max(1.0, float(abs(lines).max())):
        note = "The same at every position, because only the offset counts."
    drawn = profile_figure(profile, color)
    return Panel(f"profile.{side}", f"Over distance: {name}", drawn, alt, height=260, note=note)


def order_in_words(profile: Profile) -> str:
    order = profile["order"]
    return "none (all equal)" if math.isnan(order) else f"{order + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _notes(profile: Profile, at: str) -> str:
    every = int(profile[at][1] - profile[at][0]) if len(profile[at]) > 1 else 1
    ending = {2: "nd", 3: "rd"}.get(every, "th")
    notes = [f"Every {every}{ending} position is drawn and saved."] if every > 1 else []
    if profile["only_before"] and (at == "similarity_at" or profile["kind"] == "bias"):
        notes.append("Blank above the diagonal, where no query looks.")
    return " ".join(notes)


def profile_facts(config: RunConfig, profile: Profile, n_positions: int) -> None:
    encoding, timing = config.encoding, times().get(config)
    parts = [
        f"**{added_parameters(config, encoding.name) or 0:,}** extra parameters",
        f"correlation of nearness and similarity **{order_in_words(profile)}**",
    ]
    if added := profile["added_scale"]:
        tokens = config.token_init_std
        size = f"**{added / tokens:.2f} ×** as large as the token embeddings" if tokens else f"of size **{added:.2f}**"
        parts.append(f"before training, the numbers it adds are {size}")
    if timing:
        interval = f"{timing['low']:.2f} to {timing['high']:.2f}"
        parts.append(f"a forward pass takes **{timing['ratio']:.2f} ×** as long as without an encoding ({interval})")
    st.markdown(" · ".join(parts), help=HELP)
    source = f"[{encoding.source}]({encoding.url})" if encoding.url else encoding.source
    sentences = (
        ACTS_ON.get(encoding.acts_on, ""),
        encoding.shown_as,
        beyond(config, profile, n_positions),
        f"Source: {source}.",
    )
    st.caption(" ".join(filter(None, sentences)))


def beyond(config: RunConfig, profile: Profile, n_positions: int) -> str:
    """A sentence on the positions beyond the trained length; empty if there are none, or no encoding."""
    trained, rows = config.seq_len, profile["rows"]
    if n_positions <= trained or config.encoding.acts_on == "nowhere":
        return ""
    if rows < n_positions:
        return f"Position {rows + 1} has no row, so the model cannot read a sequence longer than {rows}."
    return f"It is defined up to position {n_positions}, but training ends at {trained}."


def times() -> dict[RunConfig, Timing]:
    measured: dict[RunConfig, Timing] = st.session_state.setdefault(TIMES, {})
    return measured


def offer_times(configs: list[RunConfig]) -> None:
    missing = [config for config in configs if config not in times()]
    if missing:
        st.button("Measure the time of a forward pass", icon=":material/timer:", on_click=_measure, args=(missing,))


def _measure(configs: list[RunConfig]) -> None:
    try:
        # alone on its worker, so that no other work disturbs the times
        timings = ask(TimeForward(tuple(configs)), alone=True, timeout=30.0)
    except JobError as error:
        st.toast(in_markdown(error), icon=":material/error:")
    else:
        times().update(zip(configs, timings, strict=True))


# Side by side


SHARED = ("d_model", "n_heads", "seq_len", "reach", "base")
ANSWER_WAIT_SECONDS = 0.15  # for an answer, before the rest of the page is written
# session keys: the less used controls, and the similarity figures, are open
FOLDED, DEEPER = "encodings.more", "encodings.deeper"
LESS_USED = ("likeness", "sight", "token_init_std", "seed")


def compare() -> None:
    as_fragment(in_turn()(_compare))


def _compare() -> None:
    _side_by_side()
    show_design()


def _side_by_side() -> None:
    n_positions = min(value("seq_len") * value("reach"), MAX_POSITIONS)
    configs, problems = dict[str, RunConfig](), dict[str, str]()
    for side in SIDES:
        try:
            configs[side] = config_of(SETTINGS.values(), side)
        except ConfigError as error:
            problems[side] = in_markdown(error)
    top, board, words = st.container(), st.container(), st.container()
    with asking_threads(len(SIDES)) as threads:
        matrices = _ask(threads, jobs.ComputeMatrices, configs, n_positions)  # quick, so they come first
        # While workers are starting, the answers do not arrive at once: the page is written meanwhile.
        with out_of_turn():
            at_once = server.pool().health().ready > 0 and not wait(matrices.values(), ANSWER_WAIT_SECONDS).not_done
        waiting = None if at_once else _controls(top)
        if waiting:
            waiting.caption(":material/hourglass_top: Drawing ...")
        views = _answers(matrices, problems)
        # the board is sent first, because other elements and requests would delay it
        if drawn := _profile_views(configs, views):
            with board:
                _board("compare", [matrix_panel(side, name, p, n_positions) for side, name, p, _ in drawn])
        if waiting:
            waiting.empty()
        else:
            _controls(top)
        SETTINGS.write_address(SETTINGS.query())
        profiles = _answers(
            _ask(threads, jobs.ComputeProfile, {side: configs[side] for side in views}, n_positions), problems
        )
    with words:
        _words(configs, profiles, problems, n_positions)
    if both := _profile_views(configs, profiles):
        _more_figures(both, n_positions)


def _more_figures(both: Sequence[ProfileView], n_positions: int) -> None:
    more = st.expander("Similarity, and profile over distance", icon=":material/stacks:", key=DEEPER, on_change="rerun")
    if more.open:
        similarity_kind = value("likeness")
        similarities = [similarity_panel(side, name, p, similarity_kind, n_positions) for side, name, p, _ in both]
        with more:
            st.markdown("In which one do nearby positions look similar and distant ones different?")
            _board("lines", [*similarities, *(profile_panel(*one) for one in both)])


def _board(key: str, items: list[Panel]) -> None:
    panels(items, key=f"encodings.{key}", name="encodings", least=440, level=2)


def _ask(
    threads: ThreadPoolExecutor,
    job: Callable[[RunConfig, int], Job[Any]],
    configs: dict[str, RunConfig],
    n_positions: int,
) -> dict[str, Future[Profile]]:
    return {side: threads.submit(ask_once, job(config, n_positions)) for side, config in configs.items()}


def _answers(futures: dict[str, Future[Profile]], problems: dict[str, str]) -> dict[str, Profile]:
    """The successful answers; the sentences of the failed ones go to ``problems``."""
    profiles = {}
    with out_of_turn():
        wait(futures.values())
    for side, future in futures.items():
        try:
            profiles[side] = future.result()
        except JobError as error:
            problems[side] = in_markdown(error)
    return profiles


def _profile_views(configs: dict[str, RunConfig], profiles: dict[str, Profile]) -> list[ProfileView]:
    labels = names_of({side: configs[side] for side in profiles})
    return [
        (side, labels[side], p, ENCODINGS[configs[side].pos_encoding].color)
        for side, p in profiles.items()
        if configs[side].encoding.acts_on != "nowhere"
    ]


def _words(
    configs: dict[str, RunConfig], profiles: dict[str, Profile], problems: dict[str, str], n_positions: int
) -> None:
    for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
        with column:
            if side in problems:
                st.error(problems[side], icon=":material/error:")
            else:
                config = configs[side]
                settings = config.encoding_settings
                st.latex(config.encoding.equation_with_numbers(config, settings))
                if isinstance(settings, DesignedSettings):
                    st.markdown(f"**{settings.in_words}**")
                profile_facts(config, profiles[side], n_positions)
    offer_times([configs[side] for side in profiles])


def _controls(into: DeltaGenerator) -> DeltaGenerator:
    """Draw the controls; return an empty element at the end of their row."""
    with into, st.container(horizontal=True, vertical_alignment="bottom", key="encodings-sides"):
        for name in SIDES:
            with st.container(width=300):
                control(name)
        _less_used()
        offer_design()
        end = st.empty()
    with into:
        for side in SIDES:
            if value(side) == DESIGN:
                parts_form(side)
    return end


def _in_a_row(names: Sequence[str], width: int) -> None:
    if drawn := SETTINGS.visible(*names):
        with st.grid(len(drawn), min_column_width=width):
            for name in drawn:
                control(name)


def _less_used() -> None:
    rows = SETTINGS.rows()
    numbers = {side: [name for name in rows if name.startswith(f"{side}.") and _is_number(name)] for side in SIDES}
    if not SETTINGS.visible(*SHARED, *LESS_USED, *numbers["a"], *numbers["b"]):
        return
    more = st.popover("Sizes, parameters", icon=":material/tune:", key=FOLDED, on_change="rerun")
    if not more.open:  # half of all controls are drawn only once opened
        return
    with more:
        _in_a_row(SHARED, 125)
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                if not numbers[side]:
                    st.caption(f"{ENCODINGS[value(side)].label} has no settings.")
                for name in numbers[side]:
                    control(name)
        _in_a_row(LESS_USED, 160)


def _is_number(name: str) -> bool:
    side, _, part = name.partition(".")
    return part not in PARTS or part in numbers_of(DesignedSettings(**design_of(SETTINGS.values(), side)))


def names_of(configs: dict[str, RunConfig]) -> dict[str, str]:
    """The label of each side, with its letter if both have the same encoding."""
    names = {side: ENCODINGS[config.pos_encoding].label for side, config in configs.items()}
    same = len(set(names.values())) < len(names)
    return {side: f"{name} ({side.upper()})" if same else name for side, name in names.items()}
