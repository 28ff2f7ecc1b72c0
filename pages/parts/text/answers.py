"""Workers' answers about texts and runs, with a cache: each question is asked once while the server runs."""

from __future__ import annotations

from engine.analysis.text_jobs import Beside, CompareWithCounting, Counted, CountWords
from engine.config.run_config import RunConfig
from engine.foundation.job import Answer, Job
from engine.runs.run import Run
from pages.parts.app import questions
from pages.parts.app.remembered import remembered

HELD = 128
TIMEOUT = 180.0
"""Seconds to wait for an answer: enough for a text of a million tokens on a busy machine."""


@remembered(HELD)
def counting_models(config: RunConfig) -> Counted:
    """The scores of the counting models beside a run. Raises JobError with one sentence."""
    return ask(CountWords(config))


def beside_counting_models(run: Run) -> Beside:
    """The trained model and the counting models on all held-out text. Raises JobError with one sentence."""
    return _beside_counting_models(CompareWithCounting(run.config, weights_of(run)), run.step)


@remembered(HELD)
def _beside_counting_models(asked: CompareWithCounting, step: int) -> Beside:
    """The comparison; ``step``, the last trained step of the weights, is a part of the cache key."""
    return ask(asked)


def ask(job: Job[Answer]) -> Answer:
    """The answer to any other job, without a cache. Raises JobError with one sentence."""
    return questions.ask(job, timeout=TIMEOUT)


def weights_of(run: Run) -> str:
    return str(run.weights or "")
