"""The forms in which reports and files travel between machines.

Reports are MessagePack with arrays, tuples and the engine's own dataclasses. They are never pickled: whoever has taken over a worker can
make the app read wrong numbers, but not run code. Files go in pieces, and arrive whole or not at all.
"""

import math
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgpack
import numpy as np
from pydantic import ConfigDict, TypeAdapter

from engine.config.run_config import RunConfig
from engine.text import own

ARRAY, NUMBER, TUPLE, OBJECT = 1, 2, 3, 4
"""The extension types: a NumPy array, a NumPy scalar, a tuple, and a dataclass of the engine."""
KINDS = "biufcSU"
"""The kinds of NumPy types that may travel: plain numbers and text, no Python objects."""
DEEPEST = 64
"""The most extension types inside of one another."""
PIECE = 4 * 2**20
"""Bytes of one piece of a file."""


class Unreadable(ValueError):
    """Bytes that are no report."""


def encode(value: Any) -> bytes:
    """Raises TypeError for a value that cannot travel, such as a tensor."""
    packed: bytes = msgpack.packb(value, default=_extended, strict_types=True)
    return packed


def decode(body: bytes, depth: int = 0) -> Any:
    """The value that :func:`encode` wrote. Raises Unreadable for anything else."""
    if depth > DEEPEST:
        raise Unreadable("It is nested too deeply.")
    try:
        return msgpack.unpackb(
            body, ext_hook=lambda code, data: _from_extended(code, data, depth + 1), strict_map_key=False
        )
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"It cannot be read ({type(error).__name__}).") from error


def _extended(value: Any) -> Any:
    match value:
        case tuple():
            return msgpack.ExtType(TUPLE, encode(list(value)))
        case np.ndarray() if value.dtype.kind in KINDS:
            row = [value.dtype.str, list(value.shape), np.ascontiguousarray(value).tobytes()]
            return msgpack.ExtType(ARRAY, encode(row))
        case np.generic() if value.dtype.kind in KINDS:
            return msgpack.ExtType(NUMBER, encode([value.dtype.str, value.tobytes()]))
        case Mapping():
            return dict(value)
    if is_dataclass(value) and not isinstance(value, type) and _is_ours(type(value).__module__):
        row = [
            type(value).__module__,
            type(value).__qualname__,
            {one.name: getattr(value, one.name) for one in fields(value)},
        ]
        return msgpack.ExtType(OBJECT, encode(row))
    raise TypeError(f"{type(value).__name__} cannot be sent to another machine: say it in numpy and plain Python.")


def _from_extended(code: int, data: bytes, depth: int) -> Any:
    row = decode(data, depth)
    match code, row:
        case (1, [str(kind), list(shape), bytes(content)]) if np.dtype(kind).kind in KINDS:
            array = np.frombuffer(content, np.dtype(kind)).reshape(shape)
            return array.copy()
        case (2, [str(kind), bytes(content)]) if np.dtype(kind).kind in KINDS:
            return np.frombuffer(content, np.dtype(kind))[0]
        case (3, list()):
            return tuple(row)
        case (4, [str(module), str(name), dict(values)]):
            return _reader_of(_dataclass(module, name)).validate_python((values,))[0]
    raise Unreadable(f"The extension type {code} is unknown.")


def _dataclass(module: str, name: str) -> type:
    """A dataclass of the engine whose module the app has imported itself."""
    found = getattr(sys.modules.get(module), name, None) if _is_ours(module) else None
    if not (isinstance(found, type) and is_dataclass(found)):
        raise Unreadable(f"{module}.{name} is no record of the engine.")
    return found


@cache
def _reader_of(kind: type) -> TypeAdapter[tuple[Any]]:
    """The validator of a dataclass's fields, each as its annotation says: a step that is a text could be the path of a file. In a tuple: an
    adapter takes no settings for a dataclass itself."""
    return TypeAdapter(cast(Any, tuple)[kind], config=ConfigDict(arbitrary_types_allowed=True, extra="forbid"))


def _is_ours(module: str) -> bool:
    return module == "engine" or module.startswith("engine.")


class Chunk(NamedTuple):
    """A piece of a file. ``name`` is the file's path in the data folder, or its name alone where the folder is known."""

    name: str
    content: bytes
    first: bool
    last: bool


def chunks_of(file: Path, name: str = "") -> Iterator[Chunk]:
    """The pieces of a file, which are read one by one. Raises OSError."""
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        for start in range(0, max(size, 1), PIECE):
            yield Chunk(name or file.name, stream.read(PIECE), start == 0, start + PIECE >= size)


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
