"""The glossary: the terms in ``glossary.toml`` by slug. Labels, help texts and figures link to them."""

from dataclasses import dataclass
from pathlib import Path

from engine.foundation.tables import Text, read_tables


@dataclass(frozen=True)
class Term:
    slug: str
    name: str
    text: Text
    formula: str = ""  # TeX
    source: str = ""
    settings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # other words for it, which also link to it


TERMS = read_tables(Path(__file__).with_suffix(".toml"), Term)
TERM_OF_SETTING: dict[str, str] = {name: term.slug for term in TERMS.values() for name in term.settings}
