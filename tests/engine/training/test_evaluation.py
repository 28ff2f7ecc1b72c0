import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import TESTED, continues
from engine.estimate.pieces import rows_at_once
from engine.runs.events import Event, Failed, Finished, Measuring, Progress, Snapshot, Started
from engine.runs.record_options import DEFAULT_RECORD, RecordOptions
from engine.tasks.text.tokens import UNKNOWN
from engine.training.data import Data
from engine.training.evaluation import evaluate, evaluate_in_pieces, forward
from engine.training.train import prepare, train
from tests.engine.tiny import exhaust

LONG = {"seq_len": 300, "d_model": 32, "n_layers": 2, "batch_size": 2, "steps": 1, "device": "cpu"}


@pytest.mark.parametrize(
    "flat",
    [
        {},
        {"task": "key_token", "family": "encoder"},
        {"task": "dyck", "pos_encoding": "rope"},
        {"family": "gru"},
        {"task": "shakespeare_words"},
        {"task": "shakespeare_chars"},
    ],
)
def test_metrics_in_pieces_are_those_of_the_whole(flat: dict[str, Any]) -> None:
    config = parse({"device": "cpu", **flat})
    model, batch = prepare(config), Data(config).validation_batch(size=50)
    whole = evaluate(model, batch)
    found, pauses = exhaust(evaluate_in_pieces(model, batch, 16, 1))
    assert pauses == 4
    assert found.keys() == whole.keys()
    assert found == pytest.approx(whole, rel=1e-5)
    assert exhaust(evaluate_in_pieces(model, batch, 50, 1)) == (whole, 0), "in one piece the very same numbers"


def test_over_the_known_tokens_of_a_text_it_is_as_if_the_unknown_ones_were_not_asked() -> None:
    config = parse({"device": "cpu", "task": "shakespeare_words", "vocab_size": 200})
    model, batch = prepare(config), Data(config).validation_batch(size=40)
    scores = evaluate(model, batch)
    known = batch.targets != UNKNOWN
    assert scores["unknown_share"] == pytest.approx(1 - known.float().mean().item())
    assert 0.2 < scores["unknown_share"] < 0.8
    with torch.no_grad():
        logits = forward(model.eval(), batch)
    nats = torch.nn.functional.cross_entropy(logits[known], batch.targets[known])
    assert scores["known_perplexity"] == pytest.approx(nats.exp().item(), rel=1e-5)
    right = (logits.argmax(-1) == batch.targets)[known].float().mean().item()
    assert scores["known_accuracy"] == pytest.approx(right)

    whole = evaluate(model, replace(batch, targets=torch.where(known, batch.targets, 1)))
    assert whole["unknown_share"] == 0
    assert (whole["known_accuracy"], whole["known_perplexity"]) == (whole["accuracy"], whole["perplexity"])
    none = evaluate(model, replace(batch, targets=torch.zeros_like(batch.targets)))
    assert none["unknown_share"] == 1
    assert math.isnan(none["known_accuracy"])
    assert math.isnan(none["known_perplexity"])


def test_a_large_training_set_is_drawn_in_pieces_before_the_first_step() -> None:
    config = parse({"task": "k_back", "seq_len": 64, "dataset_size": 30_000, "steps": 1, "device": "cpu"})
    events = list(train(config))
    began = next(at for at, event in enumerate(events) if isinstance(event, Started))
    assert sum(isinstance(event, Measuring) for event in events[:began]) == 4


@pytest.mark.parametrize("size", [100, 30_000])
def test_a_training_set_is_the_same_however_it_is_asked_for(size: int) -> None:
    config = parse({"task": "k_back", "seq_len": 64, "dataset_size": size})
    at_once, bit_by_bit = Data(config), Data(config)
    for _ in bit_by_bit.undrawn:
        pass
    for _ in range(3):
        one, other = at_once.training_batch(), bit_by_bit.training_batch()
        assert torch.equal(one.inputs, other.inputs)
        assert torch.equal(one.targets, other.targets)


def test_a_small_run_has_no_pause_before_its_last_step() -> None:
    events = list(train(RunConfig(steps=3, device="cpu")))
    last = max(at for at, event in enumerate(events) if isinstance(event, Progress))
    assert not any(isinstance(event, Measuring) for event in events[:last])


def test_the_validation_of_long_sequences_pauses() -> None:
    config = parse({**LONG, "task": "k_back", "test_lengths": "600", "pos_encoding": "alibi"})
    assert not continues(config)
    events: list[Event] = list(train(config))
    assert isinstance(events[-1], Finished)
    after = [event for event in events if isinstance(event, Measuring)]
    cut = sum(math.ceil(TESTED / rows_at_once(config, n, TESTED)) for n in (300, 600))
    assert cut > 10
    assert len(after) >= cut


def test_the_search_for_a_remedy_pauses_after_each_repeated_step() -> None:
    config = parse({"learning_rate": 10.0, "grad_clip": "auto", "optimizer": "sgd", "norm": "none", "warmup_steps": 0})
    events = list(train(config.replace(n_layers=4, device="cpu")))
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert sum(isinstance(event, Measuring) for event in events) >= failed.step


def test_watching_less_says_less_and_trains_the_same() -> None:
    config = RunConfig().replace(steps=12, dropout=0.1)
    much, little = (list(train(config, record=record)) for record in (DEFAULT_RECORD, RecordOptions(False, 2, False)))
    steps, fewer = ([event for event in events if isinstance(event, Progress)] for events in (much, little))
    assert [event.loss for event in steps] == [event.loss for event in fewer]
    assert not any(isinstance(event, Snapshot) for event in little)
    assert [event.step for event in fewer if event.validation is not None] == [1, 6, 12]
    assert steps[0].validation != fewer[0].validation, "on some of the held-out sequences, and on all"
    assert steps[-1].validation == fewer[-1].validation, "the last one is on all, whatever is recorded before it"
    ends = [event for event in (much[-1], little[-1]) if isinstance(event, Finished)]
    assert ends[0].metrics == ends[1].metrics
    assert ends[0].memory.peak is not None
    assert ends[1].memory.peak is None
