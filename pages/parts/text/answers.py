"""What workers have answered about texts and runs, each question asked once while the server runs."""

from __future__ import annotations

from typing import Any

from engine.config.run_config import RunConfig
from engine.runs.store import Run
from pages.parts.app import server
from pages.parts.app.remembered import remembered

HELD = 128
PATIENCE = 180.0
"""Seconds: a text of a million tokens on a busy machine."""


def counting_models(config: RunConfig, *, wait: bool = True) -> dict[str, Any] | None:
    """``levels``, mean nats on the run's validation windows by name, and ``facts`` about the text. None where it is not known
    and nobody waits. Raises JobError with one sentence.
    """
    return _counting_models(config) if wait else _counting_models.if_known(config)


def beside_counting_models(run: Run) -> dict[str, Any]:
    """The trained model and the counting models on all held-out text. Raises JobError with one sentence."""
    return _beside_counting_models(run.config, _weights(run), run.step)


def ask_of(run: Run, function: str, *given: Any, **options: Any) -> dict[str, Any]:
    """Any other question to a run's weights, never remembered. Raises JobError with one sentence."""
    answer: dict[str, Any] = server.pool().ask(
        f"engine.analysis.text:{function}", run.config, _weights(run), *given, timeout=PATIENCE, **options
    )
    return answer


def _weights(run: Run) -> str:
    return str(run.weights or "")


@remembered(HELD)
def _counting_models(config: RunConfig) -> dict[str, Any]:
    value: dict[str, Any] = server.pool().ask("engine.analysis.text:counting_models", config, timeout=PATIENCE)
    return value


@remembered(HELD)
def _beside_counting_models(config: RunConfig, weights: str, step: int) -> dict[str, Any]:
    """``step``: up to which the weights were trained."""
    value: dict[str, Any] = server.pool().ask(
        "engine.analysis.text:beside_counting_models", config, weights, timeout=PATIENCE
    )
    return value
