"""What the lab shows of a model without a run: its first events, and how it reads a sequence that somebody typed."""

from __future__ import annotations

from engine.analysis.attention_asked import ModelAsked
from engine.analysis.attention_model import last_step, model_of, own_sequence
from engine.config.run_config import RunConfig
from engine.runs.events import Event, Failed, Measuring, Progress, Snapshot
from engine.training.snapshot import take_snapshot
from engine.training.train import train


def before_training(config: RunConfig) -> list[Event]:
    """The events of the config's run up to its first step: the very numbers with which a run on the CPU begins."""
    events: list[Event] = []
    for event in train(config.replace(device="cpu")):
        if isinstance(event, Failed):
            break
        if not isinstance(event, Measuring):
            events.append(event)
        if isinstance(event, Progress):
            break
    return events


def own_sequence_read(asked: ModelAsked, text: str) -> Snapshot:
    """A snapshot of one sequence. Raises ValueError with one sentence where the text is no question of the task."""
    config = asked.config.replace(device="cpu")
    return take_snapshot(config, model_of(asked), own_sequence(config, text), last_step(asked))
