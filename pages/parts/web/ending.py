"""Whether the server was asked to end. It then still waits for its answers."""

from __future__ import annotations

import signal

from sse_starlette.sse import AppStatus


def asked_to_end() -> bool:
    """Whether the server was asked to end, by SIGTERM or Ctrl-C. The handler of the signal is a method of uvicorn's server, which
    knows; the flag of sse-starlette misses a server that began before that was imported."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return AppStatus.should_exit or bool(getattr(server, "should_exit", False))
