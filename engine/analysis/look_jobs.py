"""The jobs behind the lab's figures that need no run: the model before training, and a reader's own sequence."""

from __future__ import annotations

from dataclasses import dataclass

from engine.analysis.attention_asked import ModelAsked
from engine.config.run_config import RunConfig
from engine.foundation.job import Job
from engine.runs.events import Event, Snapshot

MOST_FLOPS = 2e10
"""FLOPs of a training step above which a model is not looked at before training: the answer must come while a control moves."""
MOST_BYTES = 256 * 2**20
"""The same for the predicted peak of memory."""


@dataclass(frozen=True)
class LookBeforeTraining(Job[list[Event]]):
    """The first events of the config's run: Started, the Snapshot of the untrained model, and the Progress of the first step."""

    function = "engine.analysis.look:before_training"
    noun = "Computing the untrained model"
    config: RunConfig


@dataclass(frozen=True)
class ReadOwnSequence(Job[Snapshot]):
    """The snapshot of a model that reads the ``text``, token names separated by spaces. Step 0 is the untrained model."""

    function = "engine.analysis.look:own_sequence_read"
    noun = "Reading your sequence"
    asked: ModelAsked
    text: str
