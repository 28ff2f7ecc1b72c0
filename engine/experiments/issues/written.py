"""The text of an issue: a Markdown file beside its module, with the same headings for every issue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from engine.experiments.experiment import Claim
from engine.experiments.issues.issue import Source

HEADINGS = ("Why it happens", "What helps", "What is claimed", "How it is measured", "Sources")
CLAIM = re.compile(r"`([\w-]+)`: (.+?)(?: \*(.+)\*)?")
"""The id of a claim, its sentence, and in italics the condition of the test."""
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
    path, title, summary, texts = _read(module)
    return {
        "title": title.removeprefix("# "),
        "summary": _one_line(summary),
        "mechanism": texts["Why it happens"],
        "remedies": _items(texts["What helps"]),
        "notes": _items(texts["How it is measured"]),
        "sources": tuple(Source(*_link(path, item)) for item in _items(texts["Sources"])),
    }


def worded(module: str, *claims: Claim) -> tuple[Claim, ...]:
    """The claims with the sentences and conditions beside the module. Raises ValueError where one has none, or one too many is there."""
    path, _, _, texts = _read(module)
    found = [CLAIM.fullmatch(item) for item in _items(texts["What is claimed"])]
    words = {one[1]: (one[2], one[3] or "") for one in found if one}
    if None in found or list(words) != [claim.id for claim in claims]:
        raise ValueError(f"{path.name} must word the claims {', '.join(claim.id for claim in claims)}, in this order.")
    return tuple(replace(claim, sentence=words[claim.id][0], condition=words[claim.id][1]) for claim in claims)


def _read(module: str) -> tuple[Path, str, str, dict[str, str]]:
    """The file beside a module, its title, its summary, and its sections by heading."""
    path = Path(module).with_suffix(".md")
    top, *sections = re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)
    title, _, summary = top.partition("\n")
    texts = {heading: text for heading, _, text in (section.partition("\n") for section in sections)}
    if not title.startswith("# ") or tuple(texts) != HEADINGS:
        raise ValueError(f"{path.name} must have a title and then the headings {', '.join(HEADINGS)}, in this order.")
    return path, title, summary, texts


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
