"""Pre-training: plenty of related sequences first, the run's own after, and nothing else different."""

from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import labelled, shapes
from engine.runs.events import Finished, Progress, Started
from engine.tasks.base.data import IGNORE
from engine.training.data import Data
from engine.training.evaluation import chance_of
from engine.training.optimizers import learning_rate_at
from engine.training.pretraining import Pretraining
from engine.training.train import train

RECALL = {"task": "recall", "seq_len": 9, "vocab_size": 8, "d_model": 16, "steps": 8, "pretrain_steps": 5}


@pytest.mark.parametrize(
    "settings",
    [
        RECALL,
        {"task": "dyck", "pretrain_steps": 5},
        {"pretrain_steps": 5},
        {"pretrain_steps": 5, "family": "encoder_decoder"},
    ],
)
def test_the_sister_task_has_the_same_rule_and_no_symbol_in_common(settings: dict[str, Any]) -> None:
    config = parse(settings)
    own, both, symbols = labelled(config), shapes(config), config.value("vocab_size")
    batch = Pretraining(config).training_batch()
    read = batch.inputs if batch.source is None else batch.source
    assert int(read.min()) >= own.n_tokens
    assert int(read.max()) < both.n_tokens == own.n_tokens + symbols
    asked = batch.targets != IGNORE
    answers = batch.targets[asked]
    assert own.n_outputs <= int(answers.min()) <= int(answers.max()) < both.n_outputs
    if batch.source is None and settings is not RECALL and config.task == "reverse":
        n = config.seq_len
        question, written = batch.inputs[:, :n] - own.n_tokens, batch.targets[:, n - 1 :] - own.n_outputs
        assert written.equal(question.flip(1))
    if settings is RECALL:
        expected = Data(config).task.answer(batch.inputs - own.n_tokens, config.task_settings)
        assert (batch.targets[asked] - own.n_outputs).equal(expected[asked])


def test_next_tokens_are_asked_without_the_answers() -> None:
    config = parse({**RECALL, "pretrain_on": "next_token"})
    batch, own = Pretraining(config).training_batch(), labelled(config)
    assert batch.targets[:, :-1].equal(batch.inputs[:, 1:] + own.n_outputs)
    assert (batch.targets[:, -1] == IGNORE).all()
    assert int(batch.targets.max()) < shapes(config).n_outputs


def test_the_related_sequences_are_plenty_and_not_the_labelled_ones_renamed() -> None:
    config = parse({**RECALL, "dataset_size": 16, "seq_len": 15, "vocab_size": 16})
    data, pretraining = Data(config), Pretraining(config)
    labelled_rows = {tuple(row) for _ in range(20) for row in data.training_batch().inputs.tolist()}
    related = [tuple(row) for _ in range(20) for row in (pretraining.training_batch().inputs - 16).tolist()]
    assert len(labelled_rows) <= 16
    assert len(set(related)) == len(related)
    assert labelled_rows.isdisjoint(related)


def test_the_schedule_rises_falls_and_begins_anew_and_without_pre_training_nothing_changes() -> None:
    once = RunConfig(steps=100, schedule="cosine", warmup_steps=10)
    twice = RunConfig(steps=160, pretrain_steps=60, schedule="cosine", warmup_steps=10)
    rates = [learning_rate_at(once, step) / once.learning_rate for step in range(1, 101)]
    assert (rates[0], rates[9]) == pytest.approx((0.1, 1.0))
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert 0 < rates[-1] < 0.01
    assert [learning_rate_at(twice, step) / twice.learning_rate for step in range(61, 161)] == rates
    first = [learning_rate_at(twice, step) for step in range(1, 61)]
    assert first == [learning_rate_at(once.replace(steps=60), step) for step in range(1, 61)]

    config = RunConfig()
    assert shapes(config) == labelled(config)
    assert torch.equal(
        Data(config).training_batch().inputs, Data(config.replace(pretrain_on="next_token")).training_batch().inputs
    )


def test_progress_goes_on_through_both_and_is_judged_on_the_run_s_own_task() -> None:
    config = parse(RECALL)
    events = list(train(config))
    assert [event.step for event in events if isinstance(event, Progress)] == list(range(1, 9))
    started, finished = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(finished, Finished)
    assert started.chance["accuracy"] == 1 / 4
    assert started.chance == chance_of(config.replace(pretrain_steps=0), Data(config))


def test_the_related_task_is_learned_first_and_the_own_symbols_are_new_then() -> None:
    config = parse({"task": "k_back", "k": 1, "d_model": 16, "steps": 130, "pretrain_steps": 120, "dataset_size": 32})
    events = [event for event in train(config) if isinstance(event, Progress)]
    assert events[119].loss < 0.2 < 1.5 < events[120].loss
    held_out = [event.validation["accuracy"] for event in events if event.validation and event.step <= 120]
    assert max(held_out) < 0.3, "while it trains on other symbols it knows nothing of its own"
