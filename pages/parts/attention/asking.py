"""The questions to a worker; the same question is asked once."""

from __future__ import annotations

from typing import Any

from engine.foundation.job import Answer, Job
from pages.parts.app import server
from pages.parts.app.remembered import remembered

MAX_KEPT = 24
TIMEOUT = 60.0
"""Seconds: a worker that has still to wake up is waited for."""


def ask(job: Job[Answer]) -> Answer:
    """The answer of a job that is a pure function of its fields. Raises JobError with a sentence."""
    answer: Answer = _ask(job)
    return answer


@remembered(MAX_KEPT)
def _ask(job: Job[Any]) -> Any:
    server.wake()  # a deep link may be the first page of the server's life
    return server.pool().ask(job, timeout=TIMEOUT)
