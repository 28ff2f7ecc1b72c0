"""Whether the server has been asked to stop: open streams must then end, or the server would wait for them for ever."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_leaving = threading.Event()
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name))


def is_leaving() -> bool:
    return _leaving.is_set()


@contextmanager
def noticing_the_end() -> Iterator[None]:
    """Inside the block, a signal that stops the server is recorded here first and then handled as before."""
    _leaving.clear()
    if threading.current_thread() is not threading.main_thread():  # Only the main thread may set handlers.
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def notice(number: int, frame: FrameType | None) -> None:
        _leaving.set()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in SIGNALS:
        signal.signal(number, notice)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
