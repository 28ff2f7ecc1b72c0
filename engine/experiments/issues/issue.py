"""A documented issue: an experiment, in its module, and the text of its page, in the Markdown file next to the module.

Every file has the same headings. Above its title, between two lines of ``+++``, stands TOML: its ``minutes``, the first screen as
``[key_figure]``, each row with its label, its arm and the name of its number, and each table of published numbers as
``[[published]]``. If untrained models show the same, ``dial`` leads to them. A paragraph of "Why it happens" that opens with a sentence in
bold begins a part, which the page shows alone, under this name.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter

from engine.experiments.experiment import Arm, Claim, Experiment
from engine.experiments.key_figure import KeyFigure
from engine.experiments.rates import at_best_rates, read_grids
from engine.foundation.tables import Text, one_line

Group = Literal["depth", "attention", "encoding"]
GROUPS: dict[Group, str] = {"depth": "Depth", "attention": "Self-attention", "encoding": "Positional encoding"}
# the TOML, the title, the summary, and the sections
FRONT = re.compile(r"\+\+\+\n(.+)^\+\+\+\n\n# ([^\n]+)\n(.+?)^## (.+)", re.DOTALL | re.MULTILINE)
HEADINGS = ("Why it happens", "Remedies", "Claims", "Method", "Sources")
# the id of a claim, its subject if that is not the issue itself, its unit, its sentence, and in italics the condition of the test
CLAIM = re.compile(r"`([\w-]+)`(?: \((condition|remedy)\))? in `(.+?)`: (.+?)(?: \*(.+)\*)?")
TUNED = (
    "All arms are otherwise equal, except for the learning rate. Each arm trains at its own best rate, "
    "unless a claim fixes its rate."
)
# the paragraph that begins a part of the mechanism, with its head in bold: a sentence of its own
PART = re.compile(r"\n\n\*\*([^*\n]+(?:\?|(?=\.)))\.?\*\*\s+")
LINK = re.compile(r"\[(.+)\]\((\S+)\)")
Row = TypeVar("Row")


@dataclass(frozen=True)
class Publication:
    citation: str
    """Authors, year, title, section or theorem."""
    url: str
    """Its DOI, or its page at arXiv or the publisher."""


@dataclass(frozen=True)
class Published:
    source: str
    what: Text
    """The metric, model and data."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    ours: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By row, the (arm, metric) shown next to each column; an empty arm name means none."""
    differs: Text = ""


@dataclass(frozen=True, kw_only=True)
class Issue(Experiment):
    """A documented issue. Its text holds no results, which are computed from runs."""

    group: Group
    minutes: int
    """The time in class for the question, the run and the finding."""
    summary: str
    mechanism: str
    """Markdown with TeX between dollar signs."""
    remedies: tuple[str, ...]
    sources: tuple[Publication, ...]
    key_figure: KeyFigure
    published: tuple[Published, ...] = ()
    notes: tuple[str, ...] = ()
    """On the measurement; no results."""
    dial: Mapping[str, str] = field(default_factory=dict)
    """The settings of the page Depth at which untrained models show the same; empty if they do not."""

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The parts of the mechanism, (head, text). The first one has no head."""
        first, *others = PART.split(self.mechanism.strip())
        return ("", first), *zip(others[::2], others[1::2], strict=True)


def read_issue(
    module: str, *, base: Mapping[str, Any], arms: tuple[Arm, ...], claims: Sequence[Claim], **more: Any
) -> Issue:
    """The issue of a module, given as its ``__file__``: its group is the folder and its slug the name. ``more``:
    further fields of the experiment.

    Raises ValueError with one sentence for a file of another form, or without the words of exactly these claims.
    """
    path = Path(module).with_suffix(".md")
    front = FRONT.fullmatch(path.read_text("utf-8"))
    sections = [section.partition("\n") for section in re.split(r"^## ", front[4], flags=re.MULTILINE)] if front else []
    texts = {heading: text for heading, _, text in sections}
    if front is None or tuple(texts) != HEADINGS:
        raise ValueError(
            f"{path.name} must have TOML between lines of +++, a title, and these headings: {', '.join(HEADINGS)}"
        )
    data = tomllib.loads(front[1])
    slug = path.stem.replace("_", "-")
    grids = read_grids(slug)
    issue = Issue(
        slug=slug,
        matched=TUNED if grids else Experiment.matched,
        group=path.parent.name,  # type: ignore[arg-type]
        title=front[2],
        minutes=data["minutes"],
        summary=one_line(front[3]),
        mechanism=texts["Why it happens"],
        remedies=_items(texts["Remedies"]),
        notes=_items(texts["Method"]),
        sources=tuple(_source(path, item) for item in _items(texts["Sources"])),
        key_figure=_read_row(path, data["key_figure"], KeyFigure),
        dial=data.get("dial", {}),
        published=tuple(_read_row(path, table, Published) for table in data.get("published", ())),
        base=base,
        arms=arms,
        claims=_with_words(path, _items(texts["Claims"]), claims),
        **more,
    )
    return at_best_rates(issue, grids)


def _read_row(path: Path, table: dict[str, Any], row: type[Row]) -> Row:
    if unknown := table.keys() - {field.name for field in fields(row)}:  # type: ignore[arg-type]
        raise ValueError(f"{path.name}: a {row.__name__} has no {', '.join(sorted(unknown))}.")
    return TypeAdapter(row).validate_python(table)


def _with_words(path: Path, items: Sequence[str], claims: Sequence[Claim]) -> tuple[Claim, ...]:
    matches = [CLAIM.fullmatch(item) for item in items]
    names = [claim.id for claim in claims]
    if [match and match[1] for match in matches] != names:
        raise ValueError(f"{path.name} must word the claims {', '.join(names)}, in this order, each with its unit.")
    return tuple(
        replace(claim, about=match[2] or "issue", unit=match[3], sentence=match[4], condition=match[5] or "")  # type: ignore[arg-type]
        for claim, match in zip(claims, filter(None, matches), strict=True)
    )


def _items(text: str) -> tuple[str, ...]:
    return tuple(one_line(item) for item in re.split(r"^- ", text, flags=re.MULTILINE)[1:])


def _source(path: Path, item: str) -> Publication:
    link = LINK.fullmatch(item)
    if link is None:
        raise ValueError(f"{path.name}: the source “{item}” is not a link.")
    return Publication(link[1], link[2])
