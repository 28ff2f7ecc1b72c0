"""The table of evidence as HTML: each cell a link to the experiment behind it, interval and seeds on hover and for a screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from engine.analysis.encoding_jobs import Timing
from engine.encodings import ENCODINGS
from engine.experiments.jobs import Cell
from engine.experiments.properties import QUALITIES
from pages.parts.encodings.ranking import Row, cell_in_words, share_in_words

TONE = {
    "supported": "good",
    "against": "bad",
    "no row": "bad",
    "open": "open",
    "not learned": "open",
    "not measured": "none",
}
MARK = {"this machine": "◆", "this version": "◇", None: ""}
STYLE = """<style>
.evidence { overflow-x: auto; }
.evidence table { border-collapse: separate; border-spacing: 3px; width: 100%; min-width: 46rem; font-size: .92rem; }
.evidence th { text-align: left; font-weight: 600; padding: .3rem .5rem; vertical-align: bottom; }
.evidence th[scope=row] { white-space: nowrap; vertical-align: middle; }
.evidence td { padding: 0; border-radius: 6px; background: color-mix(in srgb, currentColor 5%, transparent); }
.evidence td > * { display: block; padding: .4rem .5rem; min-height: 1.5rem; color: inherit; text-decoration: none; }
.evidence a:hover, .evidence a:focus { text-decoration: underline; }
.evidence td.good { background: color-mix(in srgb, #1A7F4B 22%, transparent); }
.evidence td.bad { background: color-mix(in srgb, #C6313B 20%, transparent); }
.evidence td.open { background: color-mix(in srgb, currentColor 12%, transparent); }
.evidence td.none { opacity: .75; }
.evidence .dot { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .45em; }
.evidence .mark { opacity: .65; font-size: .8em; }
</style>"""


def table_html(rows: Sequence[Row]) -> str:
    heads = "".join(f'<th scope="col">{escape(quality.label)}</th>' for quality in QUALITIES)
    body = "".join(_row(row) for row in rows)
    return (
        f'{STYLE}<div class="evidence"><table><thead><tr><th scope="col">Encoding</th>{heads}<th scope="col">Extra parameters</th>'
        f'<th scope="col">Extra FLOPs</th><th scope="col">Forward time</th></tr></thead><tbody>{body}</tbody></table></div>'
    )


def _row(row: Row) -> str:
    encoding = ENCODINGS[row.encoding]
    cells = "".join(_cell(cell) for cell in row.cells)
    dot = f'<span class="dot" style="background:{encoding.color}"></span>'
    parameters = "–" if row.parameters is None else f"{row.parameters:,}"
    flops = "–" if row.flops is None else share_in_words(row.flops)
    counted = f"<td><span>{parameters}</span></td><td><span>{flops}</span></td>"
    return f'<tr><th scope="row">{dot}{escape(encoding.label)}</th>{cells}{counted}{_time(row.timing)}</tr>'


def _cell(cell: Cell) -> str:
    link = ("issues?" if "issue" in cell["query"] else "lab?") + urlencode(cell["query"])
    return (
        f'<td class="{TONE[cell["state"]]}"><a href="{escape(link)}" target="_blank" rel="noopener" title="{escape(hover(cell))}">'
        f'{escape(_short(cell))} <span class="mark">{MARK[cell["origin"]]}</span></a></td>'
    )


def _short(cell: Cell) -> str:
    match cell["state"]:
        case "not measured":
            return "Run it" if cell["arm"] else "Try it"
        case "no row":
            return "cannot be run"
        case "not learned":
            return "not learned"
    return f"{cell['value']:.2f}"


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
        return '<td class="none"><span title="Not measured on this machine yet: press the button below.">–</span></td>'
    words = f"Half of the pairs lie between {timing['low']:.2f} and {timing['high']:.2f}; {timing['seconds'] * 1e3:.2g} ms a pass."
    return f'<td><span title="{words}">{timing["ratio"]:.2f} × <span class="mark">◆</span></span></td>'
