"""The messages between two of the app's processes over pipes: pickled, each with its length in front, and the child's end of the
pipes.

The pipes are private to the two processes, so pickle is safe here. :func:`read_value` refuses anything that would import torch into
the page process.
"""

import io
import os
import pickle
import struct
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any, BinaryIO, TypeVar

Received = TypeVar("Received")
LENGTH = struct.Struct("!Q")


def send(stream: BinaryIO, message: object) -> None:
    send_body(stream, write_value(message))


def send_body(stream: BinaryIO, body: bytes) -> None:
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read the next message. Raises EOFError when the other process is gone, also in the middle of a message."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(header)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return read_value(body)


def write_value(value: Any) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


class _WithoutTorch(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "torch":
            raise TypeError(f"{module}.{name} cannot be sent: say it in numpy and plain Python.")
        return super().find_class(module, name)


def read_value(body: bytes) -> Any:
    """Raises TypeError if the value holds anything of torch."""
    return _WithoutTorch(io.BytesIO(body)).load()


def take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Reserve stdin and stdout of this child for messages; other code reads an empty stdin and prints to stderr."""
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return inward, outward


def listen(inward: BinaryIO, read: Callable[[BinaryIO], Received], take: Callable[[Received], object]) -> None:
    """Pass each message of the parent to ``take``, on a separate thread; exit when the parent is gone, whatever this process is doing."""

    def until_the_end() -> None:
        try:
            while True:
                take(read(inward))
        except EOFError:
            os._exit(0)

    Thread(target=until_the_end, daemon=True).start()
