"""A person's own text, kept in the data directory under the hash of its content.

A link names a text by this hash only: it can neither read a file of the host nor guess what somebody else gave.
"""

import hashlib
import re
from pathlib import Path

from engine.foundation.files import data_folder, give, note_use
from engine.foundation.visitor import PROGRAM, Visitor
from engine.tasks.text.tokens import normalised

MAX_TEXT_BYTES = 1_000_000
"""The most bytes of a text."""
MIN_TEXT_CHARACTERS = 1_000
"""The fewest characters of a text: in a shorter one nothing is left to hold out."""
MAX_TEXTS = 200
"""The number of texts kept; above it the one unused for longest is deleted."""
NAME = re.compile(r"[0-9a-f]{32}")


def keep(content: bytes, visitor: Visitor = PROGRAM, most: int = MAX_TEXTS) -> str:
    """Keep a text and give its name. Raises ValueError with one sentence where it is no text to train on, OSError where the disk
    does not take it.

    ``most``: how many texts the visitor may have here; above it, its oldest one is deleted.
    """
    if len(content) > MAX_TEXT_BYTES:
        raise ValueError(f"The text has {len(content):,} bytes; allowed is UTF-8 of at most {MAX_TEXT_BYTES:,} bytes.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"The text is not UTF-8 (byte {error.start:,}); save it as UTF-8 first.") from None
    if "\0" in text:
        raise ValueError("The text contains a null character, so it is no plain text.")
    if len(text) < MIN_TEXT_CHARACTERS:
        raise ValueError(f"The text has {len(text):,} characters; allowed is at least {MIN_TEXT_CHARACTERS:,}.")
    kept = normalised(text).encode()
    if len(kept) > MAX_TEXT_BYTES:
        raise ValueError(
            f"The text has {len(kept):,} bytes in Unicode's form C; allowed is at most {MAX_TEXT_BYTES:,} bytes."
        )
    name = _name_of(kept)
    give(_file(name), kept, visitor, most, MAX_TEXTS)
    return name


def keep_file(path: Path) -> str:
    """Keep the text of a file. Raises ValueError with one sentence."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_TEXT_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}).") from None
    try:
        return keep(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read(name: str) -> str:
    """A kept text. Raises ValueError with one sentence where there is none of that name."""
    file = _file(name)
    try:
        content = file.read_bytes()
        note_use(file)
    except OSError:
        raise ValueError(f"text is {name}; this server has no text of that name.") from None
    if _name_of(content) != name:
        raise ValueError(f"text is {name}; its content has changed.")
    return content.decode("utf-8")


def _name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _file(name: str) -> Path:
    if not NAME.fullmatch(name):
        raise ValueError(f"text is {name}; allowed is shakespeare or the name of your own text.")
    return data_folder() / "texts" / f"{name}.txt"
