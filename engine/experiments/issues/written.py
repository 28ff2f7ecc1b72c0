"""The text of an issue: a Markdown file beside its module, with the same headings for every issue."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypedDict

from engine.experiments.issues.issue import Source

HEADINGS = ("Why it happens", "What helps", "How it is measured", "Sources")
LINK = re.compile(r"\[(.+)\]\((\S+)\)")


class Written(TypedDict):
    """The fields of an :class:`engine.experiments.issues.issue.Issue` that are text."""

    title: str
    summary: str
    mechanism: str
    remedies: tuple[str, ...]
    notes: tuple[str, ...]
    sources: tuple[Source, ...]


def written(module: str) -> Written:
    """The text beside a module, given as its ``__file__``. Raises ValueError with one sentence for a file of another form."""
    path = Path(module).with_suffix(".md")
    top, *sections = re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)
    title, _, summary = top.partition("\n")
    texts = {heading: text for heading, _, text in (section.partition("\n") for section in sections)}
    if not title.startswith("# ") or tuple(texts) != HEADINGS:
        raise ValueError(f"{path.name} must have a title and then the headings {', '.join(HEADINGS)}, in this order.")
    mechanism, remedies, notes, sources = texts.values()
    return {
        "title": title.removeprefix("# "),
        "summary": _one_line(summary),
        "mechanism": mechanism,
        "remedies": _items(remedies),
        "notes": _items(notes),
        "sources": tuple(Source(*_link(path, item)) for item in _items(sources)),
    }


def _items(text: str) -> tuple[str, ...]:
    """The items of a list."""
    return tuple(_one_line(item) for item in re.split(r"^- ", text, flags=re.MULTILINE)[1:])


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _link(path: Path, item: str) -> tuple[str, str]:
    found = LINK.fullmatch(item)
    if found is None:
        raise ValueError(f"{path.name}: the source “{item}” is not a link.")
    return found[1], found[2]
