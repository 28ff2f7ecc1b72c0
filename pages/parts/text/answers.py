"""What workers have answered about texts and runs, each question asked once while the server runs."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from engine.analysis.text_jobs import Beside, CompareWithCounting, Counted, CountWords
from engine.config.run_config import RunConfig
from engine.foundation.job import Answer, Job
from engine.runs.store import Run
from pages.parts import server

HELD = 128
PATIENCE = 180.0
"""Seconds: a text of a million tokens on a busy machine."""
_held: OrderedDict[tuple[int, Job[Any]], Any] = OrderedDict()
_lock = Lock()


def counting_models(config: RunConfig) -> Counted:
    """What the counting models score beside a run. Raises JobError with one sentence."""
    return _ask_once(CountWords(config))


def known_counting_models(config: RunConfig) -> Counted | None:
    """The same where it was asked before."""
    with _lock:
        known: Counted | None = _held.get((0, CountWords(config)))
    return known


def beside_counting_models(run: Run) -> Beside:
    """The trained model and the counting models on all held-out text. Raises JobError with one sentence."""
    return _ask_once(CompareWithCounting(run.config, weights_of(run)), run.step)


def ask(job: Job[Answer]) -> Answer:
    """Any other question, never remembered. Raises JobError with one sentence."""
    return server.pool().ask(job, timeout=PATIENCE)


def weights_of(run: Run) -> str:
    return str(run.weights or "")


def _ask_once(job: Job[Answer], version: int = 0) -> Answer:
    with _lock:
        if (version, job) in _held:
            _held.move_to_end((version, job))
            found: Answer = _held[version, job]
            return found
    answer = ask(job)
    with _lock:
        _held[version, job] = answer
        while len(_held) > HELD:
            _held.popitem(last=False)
    return answer
