"""What workers have answered about texts and runs, each question asked once while the server runs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any

from engine.config.run_config import RunConfig
from engine.runs.store import Run
from pages.parts.app import server

HELD = 128
PATIENCE = 180.0
"""Seconds: a text of a million tokens on a busy machine."""
_held: OrderedDict[Hashable, Any] = OrderedDict()
_lock = Lock()


def counting_models(config: RunConfig, *, wait: bool = True) -> dict[str, Any] | None:
    """``levels``, mean nats on the run's validation windows by name, and ``facts`` about the text. None where it is not known
    and nobody waits. Raises JobError with one sentence.
    """
    return _answer("counting_models", (config,), wait)


def beside_counting_models(run: Run) -> dict[str, Any]:
    """The trained model and the counting models on all held-out text. Raises JobError with one sentence."""
    found = _answer("beside_counting_models", (run.config, _weights(run)), True, run.step)
    assert found is not None
    return found


def ask_of(run: Run, function: str, *given: Any, **options: Any) -> dict[str, Any]:
    """Any other question to a run's weights, never remembered. Raises JobError with one sentence."""
    answer: dict[str, Any] = server.pool().ask(
        f"engine.analysis.text:{function}", run.config, _weights(run), *given, timeout=PATIENCE, **options
    )
    return answer


def _weights(run: Run) -> str:
    return str(run.weights or "")


def _answer(function: str, given: tuple[Hashable, ...], wait: bool, version: int = 0) -> dict[str, Any] | None:
    key = (function, version, *given)
    with _lock:
        if key in _held:
            _held.move_to_end(key)
            found: dict[str, Any] = _held[key]
            return found
    if not wait:
        return None
    value: dict[str, Any] = server.pool().ask(f"engine.analysis.text:{function}", *given, timeout=PATIENCE)
    with _lock:
        _held[key] = value
        while len(_held) > HELD:
            _held.popitem(last=False)
    return value
