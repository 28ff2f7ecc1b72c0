"""Shakespeare's plays: the Markdown files in ``shakespeare`` beside this module, whose README names their source and licence."""

import re
from functools import lru_cache
from pathlib import Path

HELD_OUT = ("as-you-like-it", "henry-v", "julius-caesar", "macbeth")
"""Plays that are never trained on: a comedy, a history, a Roman play and a tragedy."""
FIRST = ("hamlet", "a-midsummer-night-s-dream", "richard-iii", "the-tempest")
"""Plays to train on first; the others follow by name."""
FOLDER = Path(__file__).parent / "shakespeare"

MARKS = re.compile(r"^#+ |[*_]| +$", re.MULTILINE)
"""Markdown's headings, emphasis and line ends."""


def files() -> dict[str, Path]:
    """Name to file, sorted by name."""
    return dict(sorted((file.stem, file) for file in FOLDER.glob("*/*.md")))


def trained_plays(count: int) -> tuple[str, ...]:
    """The first so many names of those that may be trained on."""
    rest = [name for name in files() if name not in (*FIRST, *HELD_OUT)]
    return tuple([*FIRST, *rest][:count])


@lru_cache(maxsize=64)
def read(name: str) -> str:
    """A play as plain text."""
    return MARKS.sub("", files()[name].read_text("utf-8"))
