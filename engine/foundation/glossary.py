"""The glossary: the terms in ``glossary.toml`` by slug. Labels, help texts and figures link to them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Term:
    slug: str
    name: str
    text: str
    formula: str = ""
    """TeX, where there is a formula."""
    source: str = ""
    settings: tuple[str, ...] = ()
    """The settings whose help links to this term."""
    words: tuple[str, ...] = ()
    """Other words for it, which in texts also link to it."""


def read(path: Path) -> dict[str, Term]:
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {slug: _term(slug, row) for slug, row in rows.items()}


def _term(slug: str, row: dict[str, Any]) -> Term:
    text, settings, words = " ".join(row["text"].split()), tuple(row.get("settings", ())), tuple(row.get("words", ()))
    return Term(slug, row["name"], text, row.get("formula", ""), row.get("source", ""), settings, words)


TERMS = read(Path(__file__).with_suffix(".toml"))
OF_SETTING: dict[str, str] = {name: term.slug for term in TERMS.values() for name in term.settings}
"""The term by the setting whose help links to it."""
