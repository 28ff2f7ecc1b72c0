from collections.abc import Callable, Generator
from dataclasses import dataclass

import torch
from torch import nn

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionOutOfRange
from engine.estimate.layout import TESTED, continues, generation_size, trained_lengths, writes_answer
from engine.estimate.pieces import pieces, rows_at_once
from engine.estimate.prediction import Prediction
from engine.estimate.warnings import leak_of
from engine.runs.events import Finished, Measuring
from engine.runs.record_options import RecordOptions
from engine.training.data import Data
from engine.training.evaluation import evaluate_in_pieces
from engine.training.measured_memory import measure_memory
from engine.training.state import TrainingState
from engine.training.writing import generation_accuracy, unseen_scores


@dataclass(frozen=True)
class Trained:
    config: RunConfig
    model: nn.Module
    data: Data
    device: torch.device


# Numbers by name. It must not change weights, mode or the model's random state.
Measure = Callable[[Trained], dict[str, float]]
MeasureByName = Callable[[str, Trained], dict[str, float]]


def nothing_to_measure_with(name: str, trained: Trained) -> dict[str, float]:
    """Raises ValueError: the default for callers that ask for no measurements."""
    raise ValueError(f"measurements is {name}; this training was given nothing to measure with.")


def measured_result(
    state: TrainingState,
    validation: dict[str, float],
    record: RecordOptions,
    prediction: Prediction,
    measure: MeasureByName,
) -> Generator[Measuring | Finished, None, None]:
    """Measure the trained model, and last yield the result.

    ``validation``: the metrics of the validation pass after the last step. ``measure`` takes the measurements that ``record``
    names.
    """
    config, model, batch = state.config, state.model, state.batch
    assert batch is not None
    trained = Trained(config, model, state.data, state.device)
    metrics = validation | (yield from written_metrics(trained))
    rows = yield from by_length(trained)
    on_last = batch.to(state.device)
    memory = measure_memory(model, on_last, state.optimizers) if record.memory else prediction.memory
    yield Measuring(config.steps)
    measured: dict[str, float] = {}
    for name in record.measurements:
        measured |= measure(name, trained)
        yield Measuring(config.steps)
    yield Finished(config.steps, metrics, rows, memory, state.busy, measured)


def written_metrics(trained: Trained) -> Generator[Measuring, None, dict[str, float]]:
    """``written_accuracy`` on held-out sequences if the model writes its answer token by token; with a fault that shows the next
    symbol of a text or a Markov chain also ``written_loss``, with that symbol hidden. Else an empty dictionary."""
    config = trained.config
    if not writes_answer(config) and not leak_of(config):
        return {}
    first = config.seq_len - 1 if continues(config) else 0
    size = generation_size(config.seq_len)
    batch = trained.data.validation_batch().rows(slice(size)).to(trained.device)
    right = loss = 0.0
    for rows in pieces(size, rows_at_once(config, config.seq_len, size, on_gpu=trained.device.type != "cpu")):
        weight = (rows.stop - rows.start) / size
        if writes_answer(config):
            share = yield from generation_accuracy(config, trained.model, batch.rows(rows), first)
        else:
            share, nats = yield from unseen_scores(config, trained.model, batch.rows(rows))
            loss += nats * weight
        right += share * weight
    return {"written_accuracy": right} if writes_answer(config) else {"written_accuracy": right, "written_loss": loss}


def by_length(trained: Trained) -> Generator[Measuring, None, list[dict[str, object]]]:
    """Held-out metrics at each test length, or a note if the encoding has no row for a position."""
    config, rows = trained.config, list[dict[str, object]]()
    for n in sorted({config.seq_len, *config.test_lengths}) if config.test_lengths else ():
        row: dict[str, object] = {"length": n, "trained": n in trained_lengths(config)}
        try:
            batch = trained.data.validation_batch(n, TESTED).to(trained.device)
            at_once = rows_at_once(config, n, TESTED, on_gpu=trained.device.type != "cpu")
            row |= yield from evaluate_in_pieces(trained.model, batch, at_once, config.steps)
        except PositionOutOfRange as missing:
            row["note"] = str(missing)
        rows.append(row)
        yield Measuring(config.steps)
    return rows
