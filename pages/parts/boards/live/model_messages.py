"""Messages of the live board besides those of a run: the untrained model of the present settings, and a model's reading
of a sequence, which a reader may have typed, with or without ablated parts."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from engine.analysis.attention.jobs import (
    MAX_BYTES,
    MAX_FLOPS,
    AblateHead,
    FollowAnswers,
    ReadUserSequence,
    ShowUntrained,
)
from engine.analysis.attention.parts import parts_named
from engine.analysis.attention.requests import ModelRequest
from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.foundation.errors import JobError
from engine.foundation.formatting import in_bytes
from engine.foundation.job import Job
from engine.foundation.once import once_of_latest
from engine.runs.log import EventLog
from pages.parts.app.questions import SharedCache
from pages.parts.boards.live.board_updates import Payload, snapshot_json, updates_after
from pages.parts.boards.live.untrained import Untrained

MAX_SEQUENCE_CHARACTERS = 2000
_MESSAGES = SharedCache(64)
Ask = Callable[[Job[Any]], Any]
"""Answers a job for a visitor. Raises JobError with one sentence."""


def untrained_message(config: RunConfig, ask: Ask) -> Payload:
    """Return the first message of a run with this config. Raises JobError with one sentence, also for a model that is
    too large."""
    if sentence := too_large(config):
        raise JobError(sentence)
    return _MESSAGES.get(config, lambda: updates_after(Untrained(config, EventLog(ask(ShowUntrained(config)))), 0)[0])


def user_sequence_message(config: RunConfig, weights: str, text: str, ask: Ask, without: Sequence[str] = ()) -> Payload:
    """Return the snapshot of a model that reads the text ``without`` the named parts, and for a single head its
    ablation. The model is trained if there are ``weights`` (a path). Raises ValueError with one sentence; JobError is
    one."""
    if len(text) > MAX_SEQUENCE_CHARACTERS:
        raise JobError(f"Your sequence has {len(text):,} characters; the limit is {MAX_SEQUENCE_CHARACTERS:,}.")
    if sentence := too_large(config):
        raise JobError(sentence)
    request, parts = ModelRequest(config, weights), parts_named(config, without)

    def message() -> Payload:
        read = ask(ReadUserSequence(request, text, parts))
        # The guesses of an untrained model need no head; for ablated parts the page shows the change instead.
        linked = ask(FollowAnswers(request, text)) if read.contributions and weights and not parts else None
        return {"snapshot": snapshot_json(read, linked)}

    if not text and not parts:
        return _MESSAGES.get(request, message)  # everybody at the end of a run asks for it
    answer = message()
    if [part.kind for part in parts] == ["head"]:
        ablation = ask(AblateHead(request, text, parts[0]))
        answer["snapshot"]["ablation"] = ablation | {"words": [asdict(one) for one in ablation["words"]]}
    return answer


@once_of_latest(256)
def too_large(config: RunConfig) -> str:
    """Return the reason why the model of a config is not computed before training, in one sentence; empty if it is."""
    prediction = predict(config)
    if prediction.flops_per_step <= MAX_FLOPS and prediction.peak <= MAX_BYTES:
        return ""
    return f"This model needs {in_bytes(prediction.peak)}, too much for a preview. Train it to see it."
