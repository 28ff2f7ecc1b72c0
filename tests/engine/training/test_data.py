"""Tasks against their rules; what is held out; how each family is asked."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse, settings_for
from engine.estimate.layout import loss_floor, metric_names, shapes
from engine.tasks import TASKS
from engine.tasks.base.data import IGNORE, task_data
from engine.training.data import Data, is_held_out

SAMPLE = [3, 1, 4]
SETTINGS: dict[str, dict[str, Any]] = {"k_back": {"k": 1}}
"""Under which the registry's worked samples hold, where they are not the defaults."""
READ = {"content_offset": [3, 1, 14]}
"""Worked samples in tokens, where a token is more than a symbol."""
EVERY_FRAMING = [(task, family) for task, row in TASKS.items() for family in row.architectures]


def symbol(token: str) -> int:
    return IGNORE if token == "·" else int(token)


def read_token(token: str, config: RunConfig) -> int:
    names = config.task_settings.named_tokens
    return config.value("vocab_size") + names.index(token) if token in names else int(token)


@pytest.mark.parametrize("task", [task for task, row in TASKS.items() if not row.corpus and task != "lookup"])
def test_the_worked_sample_follows_the_rule(task: str) -> None:
    question, expected = (side.split() for side in TASKS[task].sample.rpartition(": ")[2].split("→"))
    config = parse({"task": task, "family": TASKS[task].architectures[0]})
    read = torch.tensor([READ.get(task) or [read_token(token, config) for token in question]])
    answer = task_data(task).answer(read, TASKS[task].settings(**SETTINGS.get(task, {})))
    assert answer.tolist() == [[symbol(token) for token in expected]]


@pytest.mark.parametrize(("task", "family"), EVERY_FRAMING)
def test_batches_have_the_shapes_that_are_promised(task: str, family: str) -> None:
    config = RunConfig().replace(task=task, family=family)
    sizes, data = shapes(config), Data(config)
    batch = data.training_batch()
    assert batch.inputs.shape == batch.targets.shape == (config.batch_size, sizes.length)
    assert (None if batch.source is None else batch.source.size(1)) == sizes.source_length
    assert int(batch.inputs.max()) < len(config.task_settings.token_parts or range(sizes.n_tokens))
    asked = batch.targets[batch.targets != IGNORE]
    assert 0 <= int(asked.min()) <= int(asked.max()) < sizes.n_outputs
    assert tuple(batch.regions) == metric_names(config)


def test_a_decoder_reads_question_and_answer_as_one_line_and_an_encoder_decoder_writes_after_a_marker() -> None:
    data = Data(RunConfig(seq_len=3))
    batch = data.frame(torch.tensor([SAMPLE]), torch.tensor([[4, 1, 3]]))
    assert batch.inputs.tolist() == [[3, 1, 4, 4, 1]]
    assert batch.targets.tolist() == [[1, 4, 4, 1, 3]]
    assert batch.targets[:, batch.regions["first_half_accuracy"]].tolist() == [[1, 4]]
    assert batch.targets[:, batch.regions["second_half_accuracy"]].tolist() == [[4, 1, 3]]

    data = Data(RunConfig(seq_len=3, family="encoder_decoder"))
    batch = data.frame(torch.tensor([SAMPLE]), torch.tensor([[4, 1, 3]]))
    assert batch.source is not None
    assert (batch.source.tolist(), batch.inputs.tolist(), batch.targets.tolist()) == (
        [SAMPLE],
        [[10, 4, 1]],
        [[4, 1, 3]],
    )


@pytest.mark.parametrize("dataset_size", [None, 200])
def test_no_training_sequence_is_held_out(dataset_size: int | None) -> None:
    data = Data(RunConfig(seq_len=3, dataset_size=dataset_size))
    rows = {tuple(row) for row in data.validation_batch().inputs[:, :3].tolist()}
    for _ in range(30):
        assert rows.isdisjoint(map(tuple, data.training_batch().inputs[:, :3].tolist()))


def test_a_fifth_of_all_sequences_is_held_out_in_every_part_of_the_space() -> None:
    every = torch.tensor(list(itertools.product(range(10), repeat=4)))
    held = is_held_out(every).float()
    assert held.mean().item() == pytest.approx(0.2, abs=0.02)
    for position, value in itertools.product(range(4), range(10)):
        assert held[every[:, position] == value].mean().item() == pytest.approx(0.2, abs=0.06)


def test_where_too_few_sequences_exist_none_is_held_out() -> None:
    assert not Data(parse({"seq_len": 2, "vocab_size": 2})).holds_out(2)
    assert not Data(parse({"task": "own_position", "variant": "constant"})).holds_out(6)


def most_symbols(task: str) -> float:
    return next(row.maximum or 0 for row in settings_for(task) if row.name == "vocab_size")


@pytest.mark.parametrize("task", [name for name, row in TASKS.items() if not row.corpus and most_symbols(name) >= 1000])
def test_long_sequences_of_many_symbols_can_be_held_out(task: str) -> None:
    data = Data(parse({"task": task, "family": TASKS[task].architectures[0], "seq_len": 1024, "vocab_size": 1000}))
    assert data.holds_out(1024)


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    first, again, other = (Data(RunConfig(seed=seed)).training_batch().inputs for seed in (1, 1, 2))
    assert first.equal(again)
    assert not first.equal(other)


def test_lengths_vary_between_the_bounds() -> None:
    data = Data(RunConfig().replace(task="k_back", k=1, seq_len=8, min_seq_len=3))
    assert {data.training_batch().inputs.size(1) for _ in range(200)} == set(range(3, 9))


def test_label_noise_spoils_its_share_of_training_answers_only() -> None:
    config = RunConfig().replace(task="k_back", k=1, label_noise=0.5, dataset_size=2000)
    data = Data(config)
    batch = data.training_batch()
    batches = [data.training_batch() for _ in range(40)]
    right = torch.cat([b.targets[:, 1:] == b.inputs[:, :-1] for b in [batch, *batches]]).float().mean().item()
    assert right == pytest.approx(0.5 + 0.5 / 10, abs=0.03)
    clean = data.validation_batch()
    assert clean.targets[:, 1:].equal(clean.inputs[:, :-1])


def test_chance_is_what_the_best_constant_guess_scores() -> None:
    config = parse({"task": "own_position", "variant": "padded", "seq_len": 9})
    data = Data(config)
    targets = data.validation_batch(size=20_000).targets
    asked = targets[targets != IGNORE]
    best = asked.bincount().max().item() / len(asked)
    assert data.chance() == pytest.approx(best, abs=0.01)


def test_padding_marks_what_is_not_there() -> None:
    batch = Data(parse({"task": "own_position", "variant": "padded", "bos": True})).training_batch()
    assert batch.token_mask is not None
    assert batch.token_mask[:, 0].all()
    assert ((batch.targets[:, 1:] == IGNORE) == ~batch.token_mask[:, 1:]).all()


def test_the_floor_counts_the_symbols_nobody_can_know() -> None:
    config = RunConfig(seq_len=6)
    assert loss_floor(config) == pytest.approx(5 / 11 * math.log(10))
    assert loss_floor(config.replace(family="encoder")) == 0.0
    assert loss_floor(config.replace(label_noise=0.1)) is None
