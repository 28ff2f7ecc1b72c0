"""The recommendation for a reader's needs and its table, both computed from the evidence."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler
from pandas.io.formats.style_render import CSSDict

from engine import RELEASED, VERSION
from engine.analysis.encodings.jobs import Timing
from engine.config.link import to_query
from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.experiments.benchmark.advice import LONGER, Advice, advice, label
from engine.experiments.benchmark.costs import MODEL, CostRow, costs_of_encodings, shipped_times
from engine.experiments.benchmark.counting import is_worse_than_counting, shipped_counted
from engine.experiments.benchmark.criteria import (
    CHOICE,
    COMPARED,
    CRITERIA,
    NEEDS,
    TIMES,
    Criterion,
    scope_of,
    turns_in_words,
)
from engine.experiments.benchmark.table import DECIMALS, Column, TableCell, beside_papers, column
from engine.experiments.frames import evidence_frame
from engine.foundation.formatting import counted, listed
from engine.foundation.provenance import short_commit
from engine.tasks.text.tokens import unknown_beside
from pages.parts.app.in_markdown import escaped
from pages.parts.app.page_state import offer_file
from pages.parts.charts.colors import GREEN, RED
from pages.parts.charts.table import whole_lines
from pages.parts.encodings.state import NEEDED, SETTINGS, TESTED, control, value

SMALLEST = listed(sorted({f"{one.smallest:g}" for one in CRITERIA.values()}), "or")
MEASURED = (
    f"“Among the best” means within {SMALLEST} of the best number in the table below. "
    "Time is that of a forward pass; a model without encoding has 1."
)
WORSE = "▾"  # worse than counting three characters
LEGEND = (
    "Numbers are means over the seeds, at each model's own best learning rate. They are the accuracy on new sequences. For characters, "
    "they are the loss in nats (lower is better).\n\n"
    f"- Green: within {SMALLEST} of the best number of the column. Red: further away, or the model cannot run. Grey: not learned; "
    "for few data, not even with fresh sequences.\n"
    "- N×: tested at N times the trained length. Hover a cell for its seeds, click it to open the lab.\n"
    "- In brackets, for few data: the difference from the same training with fresh sequences.\n"
    f"- Counting: a Kneser-Ney model of 1 to 6 characters. {WORSE}: worse than this model with three.\n"
    f"- Parameters and time: a decoder of {MODEL.n_layers} layers, width {MODEL.d_model}, {MODEL.n_heads} heads, length "
    f"{MODEL.seq_len}. The range is the middle half of the measurements.\n\n"
)
TABLE = "encodings.table"  # session key: the table is open
CITE = Path(__file__).with_name("cite.md")  # version, command and BibTeX entry, with gaps to fill
GOOD = f"background: color-mix(in srgb, {GREEN['light']} 22%, transparent)"
BAD = f"background: color-mix(in srgb, {RED['light']} 20%, transparent)"
UNKNOWN = "background: color-mix(in srgb, currentColor 12%, transparent)"
DOT = "content: ''; display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .45em"
COUNTED = ["Extra parameters", "Forward time"]
STYLES: list[CSSDict] = [
    {"selector": "a", "props": "color: inherit !important; text-decoration: none !important"},
    {"selector": "a:hover, a:focus", "props": "text-decoration: underline !important"},
    {"selector": "tbody th, thead th", "props": "color: inherit; font-weight: 600"},
    {
        "selector": "thead th",
        "props": "min-width: 4.75rem; vertical-align: bottom !important",
    },  # all columns fit a laptop
]


def advice_for_needs() -> Advice:
    return advice(value(NEEDED), columns_at(int(value(TESTED))), columns_at(LONGER), costs_of_encodings())


def recommend() -> None:
    words, needs = st.columns([6, 1], gap="medium")
    recommendation = advice_for_needs()
    condition = ""
    if recommendation.needs_met:
        needs_in_words = listed([NEEDS[need] for need in recommendation.needs_met], "or")
        condition = f"You must {needs_in_words}: {label(recommendation.start)}. "
    words.markdown(recommendation.words, help=condition + MEASURED)
    if SETTINGS.visible(NEEDED, TESTED):
        with needs.popover("Your needs"):
            _needs()


def _needs() -> None:
    if SETTINGS.visible(NEEDED):
        bound = SETTINGS.labelled(NEEDED, display=list(value(NEEDED)))
        st.pills(options=list(NEEDS), format_func=lambda name: NEEDS[name], selection_mode="multi", wrap=True, **bound)
    control(TESTED)


def show_table() -> None:
    words = f"Every number: {len(COMPARED)} encodings, {len(CRITERIA)} tasks"
    table = st.expander(words, icon=":material/table_chart:", key=TABLE, on_change="rerun")
    if table.open:
        with table:
            _show_table()


def _show_table() -> None:
    columns, costs = columns_at(int(value(TESTED))), costs_of_encodings()
    styled = evidence_styled(advice_for_needs().order, list(columns.values()), costs)
    st.table(styled, border="horizontal", alt="The evidence on each encoding")
    timed = shipped_times().machine
    st.caption(f"{LEGEND} Times: {timed['processor']}, one core, {timed['date']}.")
    with st.container(horizontal=True):
        offer_file("Every number (CSV)", _every_number, "encodings-evidence.csv")
        with st.popover("Cite this table", icon=":material/format_quote:"):
            st.markdown(citation())
    for one in columns.values():
        st.markdown(_measurement_words(one))
    st.caption(CHOICE.matched)


def citation() -> str:
    commit = short_commit()
    gaps = {"version": VERSION, "commit": f" (commit {commit})" if commit else "", "year": RELEASED[:4]}
    return Template(CITE.read_text("utf-8")).substitute(gaps)


def _measurement_words(one: Column) -> str:
    criterion, number = one.criterion, one.criterion.number(one.times)
    counts = f"Number: `{number}`; smallest difference that counts: {criterion.smallest:g}."
    parts = [f"**{criterion.label}**: {criterion.task}; {scope_of(criterion)}. {counts}"]
    for name in criterion.specific:  # encodings with other settings than the default
        parts.append(f"{label(name)}: {turns_in_words(CHOICE.config(one.arms[name]))}")
    published = [(name, row) for name in one.cells for row in beside_papers(one, name)]
    for paper in criterion.papers:
        numbers = [
            f"{label(name)} {row.number:g}{f' at {row.times}×' if row.times != one.times else ''} ({row.sign})"
            for name, row in published
            if row.paper is paper
        ]
        parts.append(
            f"Published: [{paper.source}]({paper.url}), {paper.what}: {listed(numbers) if numbers else 'none at this length'}."
        )
    return " ".join(parts)


@cache
def columns_at(times: int) -> dict[str, Column]:
    """The column of each criterion at ``times`` the trained length, or at the criterion's first length."""
    return {
        name: column(criterion, times if times in criterion.times else criterion.times[0])
        for name, criterion in CRITERIA.items()
    }


def _every_number() -> str:
    columns = [one for times in TIMES for one in columns_at(times).values() if one.times == times]
    return evidence_frame(columns).to_csv(index=False)


# The table


def evidence_styled(order: Sequence[str], columns: Sequence[Column], costs: Mapping[str, CostRow]) -> Styler:
    frame = pd.DataFrame(
        [[*(_cell(one, name) for one in columns), *_costs(costs[name])] for name in order],
        index=pd.Index([escaped(ENCODINGS[name].label) for name in order], name="Encoding"),
        columns=[*map(head, columns), *COUNTED],
    )
    icon = [[*(icon_of(one, name) for one in columns), *[""] * len(COUNTED)] for name in order]
    shade = pd.DataFrame(icon, index=frame.index, columns=frame.columns)
    return whole_lines(frame, [*STYLES, *_dots(order)]).apply(lambda _: shade, axis=None)


def icon_of(one: Column, name: str) -> str:
    state = one.cells[name]["state"]
    if state in ("not learned", "not measured"):
        return UNKNOWN
    return GOOD if name in one.among_best else BAD


def head(one: Column) -> str:
    task = one.criterion.task.partition(":")[0]
    length = f", {one.times}×" if one.times > 1 else ""
    unit = ", nats" if one.criterion.metric == "loss" else ""
    return f"{one.criterion.label} ({task}{length}{unit}{_unknown(one)}{_counting_words(one.criterion)})"


def _counting_words(criterion: Criterion) -> str:
    counting = shipped_counted().get(criterion.slug)
    if counting is None:
        return ""
    losses = " ".join(f"{loss:.{DECIMALS}f}" for loss in counting.losses.values())
    return f"; counting 1 to {len(counting.losses)}: {losses}"


def _unknown(one: Column) -> str:
    """The share of the text's tokens outside of the vocabulary, after a comma; empty without any."""
    share = CHOICE.config(next(iter(one.arms.values()))).task_settings.unknown_share()
    return f", {unknown_beside(share)}" if share else ""


def _dots(order: Sequence[str]) -> list[CSSDict]:
    """A dot in the encoding's colour before its name, not as text, so that screen readers skip it."""
    return [
        {"selector": f"tbody tr:nth-child({number}) th p::before", "props": f"{DOT}; background: {ENCODINGS[name].color}"}
        for number, name in enumerate(order, start=1)
    ]  # fmt: skip


def _costs(cost: CostRow) -> list[str]:
    return [
        "–" if cost.parameters is None else f"{cost.parameters:,}",
        _time(cost.timing),
    ]


def _cell(one: Column, name: str) -> str:
    cell = one.cells[name]
    words = escaped(hover(one, name)).replace('"', '\\"')
    return f'[{_short(one, cell)}](lab?{urlencode(_short_query(CHOICE.config(one.arms[name])))} "{words}")'


def _short_query(config: RunConfig) -> dict[str, str]:
    """The query of a link to the lab, without defaults: a table has a hundred links."""
    kind = {"task": config.task, "family": config.family, "pos_encoding": config.pos_encoding}
    usual = to_query(parse(kind))
    return kind | {name: text for name, text in to_query(config).items() if usual.get(name) != text}


def _short(one: Column, cell: TableCell) -> str:
    words = {"not measured": "Try it", "no row": "cannot run", "not learned": "not learned"}
    if (state := words.get(cell["state"])) is not None or cell["number"] is None:
        return state or ""
    price = "" if cell["price"] is None else f" ({cell['price']:+z.{DECIMALS}f})".replace("-", "−")
    mark = f" {WORSE}" if is_worse_than_counting(one.criterion, cell["number"]) else ""
    return f"{cell['number']:.{DECIMALS}f}{price}{mark}"


def hover(one: Column, name: str) -> str:
    cell = one.cells[name]
    if cell["state"] == "not measured":
        return "Not measured yet. Opens the lab with these settings."
    failed = f" of {cell['seeds'] + cell['failed']}" if cell["failed"] else ""
    seeds = f"{counted(cell['seeds'], 'seed')}{failed}"
    if cell["state"] == "no row":
        return f"The model cannot be run there ({seeds})."
    interval = f" ({cell['ci'][0]:.3f} to {cell['ci'][1]:.3f})" if cell["ci"] else ""
    spread = f", from {cell['range'][0]:.3f} to {cell['range'][1]:.3f}" if cell["range"] else ""
    number = f"{one.criterion.number(one.times)} {cell['number']:.3f}{interval}{_unknown(one)}, {seeds}{spread}"
    if cell["fresh"] is not None:
        number += f"; with fresh sequences {cell['fresh']:.3f} ({counted(cell['paired'], 'seed')})"
    if cell["state"] == "not learned":
        where = "with fresh sequences" if cell["fresh"] is not None else "at the trained length"
        return f"No comparison, because the task was not learned {where}. {number}."
    beside = "The best one: the others are compared with it."
    if cell["state"] != "best":
        behind = "" if cell["behind"] is None else f"Behind {label(one.best or '')} by {cell['behind']:.3f}: "
        beside = f"{behind}{cell['state']}. {cell['why']}".strip()
    config = CHOICE.config(one.arms[name])
    scale = f"{scope_of(one.criterion).capitalize()}. {turns_in_words(config)}".strip()
    papers = " ".join(
        f"{row.paper.source}, at {row.times}×: {row.number:g}, {ENCODINGS[row.paper.baseline].label} {row.baseline:g}, {row.sign}."
        for row in beside_papers(one, name)
    )
    return f"{number}. {beside} {scale} {papers}".strip()


def _time(timing: Timing | None) -> str:
    if timing is None:
        return "–"
    within = f"{timing['low']:.2f} to {timing['high']:.2f}, {timing['seconds'] * 1e3:.2g} ms"
    return f"{timing['ratio']:.2f} ×  \n:small[{within}]"
