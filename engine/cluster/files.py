"""Files on their way between the app's data folder and another machine's: in pieces, each whole at its end or not at all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engine.config.run_config import RunConfig
from engine.text import own

PIECE = 4 * 2**20
"""Bytes of one piece."""


class Chunk(NamedTuple):
    """A piece of a file. ``name`` is the file's path in the data folder, or its name alone where the folder is known."""

    name: str
    content: bytes
    first: bool
    last: bool


def chunks_of(file: Path, name: str = "") -> Iterator[Chunk]:
    """The pieces of a file, which are read one by one. Raises OSError."""
    with file.open("rb") as stream:
        content, first = stream.read(PIECE), True
        while True:
            following = stream.read(PIECE)
            yield Chunk(name or file.name, content, first, not following)
            if not following:
                return
            content, first = following, False


def write_chunk(folder: Path, chunk: Chunk, largest: float = math.inf) -> None:
    """Write a piece below the folder; the last one puts the file in its place. Raises OSError, or ValueError for a name that leads
    out of the folder or a file of more than ``largest`` bytes."""
    file = (folder / chunk.name).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise ValueError(f"{chunk.name} is no file of the data folder.")
    file.parent.mkdir(parents=True, exist_ok=True)
    half_written = file.with_name(f".{file.name}.part")
    with half_written.open("wb" if chunk.first else "ab") as stream:
        if stream.tell() + len(chunk.content) > largest:
            raise ValueError(f"{chunk.name} has more than {largest:,} bytes.")
        stream.write(chunk.content)
    if chunk.last:
        half_written.replace(file)


def needed_by(config: RunConfig, data: Path) -> list[Path]:
    """The files of the data folder that a run of this config reads, by their paths in it: a text of the reader's own."""
    name = str(config.flat().get("text", ""))
    file = Path("texts") / f"{name}.txt"
    return [file] if own.NAME.fullmatch(name) and (data / file).exists() else []
