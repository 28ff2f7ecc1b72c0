"""A documented issue: an experiment, and the text that its page tells about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.experiments.experiment import Experiment
from engine.experiments.key_figure import KeyFigure
from engine.foundation.tables import Text

Group = Literal["depth", "attention", "encoding"]
GROUPS: dict[Group, str] = {"depth": "Depth", "attention": "Self-attention", "encoding": "Positional encoding"}


@dataclass(frozen=True)
class Source:
    """A publication that an issue rests on."""

    citation: str
    """Authors, year, title, section or theorem."""
    url: str
    """Where it can be read: its DOI, or its page at arXiv or the publisher."""


@dataclass(frozen=True)
class Published:
    """Numbers from a paper, shown beside ours."""

    source: str
    what: Text
    """The metric, model and data."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    ours: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By row, the (arm, metric) shown beside each column; an empty arm name means none."""
    differs: Text = ""
    """The differences between their experiment and ours."""


@dataclass(frozen=True, kw_only=True)
class Issue(Experiment):
    """One documented issue. Its text holds no results: they are computed from runs."""

    group: Group
    summary: str
    """The claim in one or two plain sentences."""
    mechanism: str
    """The explanation of the effect: Markdown with TeX between dollar signs."""
    remedies: tuple[str, ...]
    """The three usual remedies in practice."""
    sources: tuple[Source, ...]
    key_figure: KeyFigure
    """The question and the figure of the page's first screen."""
    published: tuple[Published, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on the measurement; no results."""
