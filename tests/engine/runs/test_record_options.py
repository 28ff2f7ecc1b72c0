"""What is looked at changes no number of the training."""

from __future__ import annotations

from engine.config.run_config import RunConfig
from engine.runs.events import Finished, Progress, Snapshot
from engine.runs.record_options import DEFAULT_RECORD, RecordOptions
from engine.training.train import train

CONFIG = RunConfig().replace(steps=12, dropout=0.1)


def test_watching_less_says_less_and_trains_the_same() -> None:
    much, little = (list(train(CONFIG, record=record)) for record in (DEFAULT_RECORD, RecordOptions(False, 2, False)))
    losses = [[event.loss for event in events if isinstance(event, Progress)] for events in (much, little)]
    assert losses[0] == losses[1]
    assert not any(isinstance(event, Snapshot) for event in little)
    assert sum(isinstance(event, Progress) and event.validation is not None for event in little) == 3  # 1, 6 and 12
    ends = [event for event in (much[-1], little[-1]) if isinstance(event, Finished)]
    assert ends[0].metrics == ends[1].metrics
    assert ends[0].memory.peak is not None
    assert ends[1].memory.peak is None


def test_the_last_validation_reads_all_held_out_sequences() -> None:
    """Whatever is recorded before it: the result of a run does not depend on that."""
    ends = [
        [event.validation for event in train(CONFIG, record=record) if isinstance(event, Progress)]
        for record in (DEFAULT_RECORD, RecordOptions(evaluations=3))
    ]
    assert ends[0][-1] == ends[1][-1]
    assert ends[0][0] != ends[1][0]  # of the first step: on some sequences, and on all
