"""What workers have answered about texts and runs, each question asked once while the server runs."""

from __future__ import annotations

from engine.analysis.text_jobs import Beside, CompareWithCounting, Counted, CountWords
from engine.config.run_config import RunConfig
from engine.foundation.job import Answer, Job
from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.app.remembered import remembered

HELD = 128
TIMEOUT = 180.0
"""Seconds: a text of a million tokens on a busy machine."""


@remembered(HELD)
def counting_models(config: RunConfig) -> Counted:
    """What the counting models score beside a run. Raises JobError with one sentence."""
    return ask(CountWords(config))


def beside_counting_models(run: Run) -> Beside:
    """The trained model and the counting models on all held-out text. Raises JobError with one sentence."""
    return _beside_counting_models(CompareWithCounting(run.config, weights_of(run)), run.step)


@remembered(HELD)
def _beside_counting_models(asked: CompareWithCounting, step: int) -> Beside:
    """``step``: up to which the weights were trained."""
    return ask(asked)


def ask(job: Job[Answer]) -> Answer:
    """Any other question, never remembered. Raises JobError with one sentence."""
    return server.pool().ask(job, timeout=TIMEOUT)


def weights_of(run: Run) -> str:
    return str(run.weights or "")
