"""A document as one file of HTML, to be saved, sent and printed: it needs no server, no script and no other file.

What is put into a form (:func:`html`) is escaped, unless it is HTML already: a reader's words are shown as they were typed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from markupsafe import Markup, escape

from engine.experiments.key_figure import KeyFigure
from engine.foundation.provenance import in_words, provenance
from pages.parts.charts.experiments.key_figure import lengths
from pages.parts.charts.experiments.strip import Ended

PAGE = Template((Path(__file__).with_suffix(".html")).read_text("utf-8"))
joined = Markup().join


def html(form: str, *parts: object) -> Markup:
    """The form with these parts in its braces."""
    return Markup(form).format(*parts)


def listed(items: Iterable[str]) -> Markup:
    """A list; empty without items."""
    rows = joined(html("<li>{}</li>", item) for item in items)
    return html("<ul>{}</ul>", rows) if rows else rows


def bars(rows: Sequence[Ended], figure: KeyFigure) -> Markup:
    """The rows of a key figure with their means as bars; those that no seed has are left out."""
    known = [(row, row.mean) for row in rows if row.mean is not None]
    means = [mean for _, mean in known]
    form = '<tr><td>{}</td><td><i class="bar" style="width: {}%; background: {}"></i></td><td>{}</td></tr>'
    cells = joined(
        html(form, row.name, round(100 * length), row.color["light"], figure.written(mean))
        for (row, mean), length in zip(known, lengths(means, figure.scale), strict=True)
    )
    scale = html("<p class=light>The bars have a logarithmic scale.</p>") if figure.scale == "log" and known else ""
    return html("<table>{}</table>{}", cells, scale)


def document(title: str, body: Markup) -> str:
    """The whole file. At its foot stands what wrote it."""
    return PAGE.substitute(title=escape(title), body=body, origin=escape(f"Written by {in_words(provenance())}."))
