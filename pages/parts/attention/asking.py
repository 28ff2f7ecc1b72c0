"""The questions to a worker; the same question is asked once."""

from __future__ import annotations

from typing import Any

from pages.parts.app import server
from pages.parts.app.remembered import remembered

KEPT = 24
PATIENCE = 60.0
"""Seconds: a worker that has still to wake up is waited for."""


@remembered(KEPT)
def ask(function: str, *args: Any) -> Any:
    """The answer of ``attention_<module>:<function>``, a pure function of its arguments. Raises JobError with a sentence."""
    server.wake()  # a deep link may be the first page of the server's life
    return server.pool().ask(f"engine.analysis.attention_{function}", *args, timeout=PATIENCE)
