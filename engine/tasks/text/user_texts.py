"""A user's text, stored in the data directory under the hash of its content.

A link names a text by this hash only: it can neither read a file of the host nor guess the text of somebody else.
"""

import hashlib
import re
from pathlib import Path

from engine.foundation.files import data_folder, note_use, write_for_visitor
from engine.foundation.visitor import PROGRAM, Visitor
from engine.tasks.text.tokens import normalised

MAX_TEXT_BYTES = 1_000_000
MIN_TEXT_CHARACTERS = 1_000  # In a shorter text nothing is left to hold out
MAX_TEXTS = 200  # above it the text unused for longest is deleted
NAME = re.compile(r"[0-9a-f]{32}")


def keep(content: bytes, visitor: Visitor = PROGRAM, most: int = MAX_TEXTS) -> str:
    """Store a text and return its name. Raises ValueError with one sentence if it is no text to train on, OSError if the disk does not
    take it.

    ``most``: texts that the visitor may have here; above it, the visitor's oldest one is deleted.
    """
    if len(content) > MAX_TEXT_BYTES:
        raise ValueError(
            f"The text has {len(content):,} bytes; it must be UTF-8 with at most {MAX_TEXT_BYTES:,} bytes."
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"The text is not UTF-8 (byte {error.start:,}); save it as UTF-8 first.") from None
    if "\0" in text:
        raise ValueError("The text contains a null character, so it is no plain text.")
    if len(text) < MIN_TEXT_CHARACTERS:
        raise ValueError(f"The text has {len(text):,} characters; it needs at least {MIN_TEXT_CHARACTERS:,}.")
    # composing may lengthen a text
    encoded = normalised(text).encode()
    if len(encoded) > MAX_TEXT_BYTES:
        raise ValueError(
            f"The text has {len(encoded):,} bytes in Unicode's form C; the limit is {MAX_TEXT_BYTES:,} bytes."
        )
    name = _name_of(encoded)
    write_for_visitor(_file(name), encoded, visitor, most, MAX_TEXTS)
    return name


def keep_file(path: Path) -> str:
    """Raises ValueError with one sentence."""
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
    """Raises ValueError with one sentence."""
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
        raise ValueError(f"text is {name}; it must be shakespeare or the name of your own text.")
    return data_folder() / "texts" / f"{name}.txt"
