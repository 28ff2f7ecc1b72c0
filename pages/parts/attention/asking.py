"""Questions to a worker, with a cache: the same question is asked once."""

from __future__ import annotations

from typing import Any

from engine.foundation.job import Answer, Job
from pages.parts.app import questions
from pages.parts.app.remembered import remembered

MAX_KEPT = 24
TIMEOUT = 60.0
"""Seconds to wait for an answer, which includes the start of a worker."""


def ask(job: Job[Answer]) -> Answer:
    """The answer to a job that is a pure function of its fields. Raises JobError with a sentence."""
    answer: Answer = _ask(job)
    return answer


@remembered(MAX_KEPT)
def _ask(job: Job[Any]) -> Any:
    return questions.ask(job, timeout=TIMEOUT)
