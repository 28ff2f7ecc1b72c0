"""Permutation: each answer is one fixed place's symbol; the order is the setting's, not the run's."""

from __future__ import annotations

import torch

from engine.config.run_config import parse
from engine.tasks.permutation.data import TASK, permutation
from engine.training.data import Data

N = 16


def test_every_answer_is_the_symbol_at_its_place() -> None:
    config = parse({"task": "permutation", "family": "encoder", "seq_len": N, "permutation_seed": 5})
    order = permutation(N, 5)
    assert sorted(order) == list(range(N))
    batch = Data(config).training_batch()
    for read, asked in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
        assert asked == [read[place] for place in order]


def test_the_order_is_the_settings_not_the_runs_and_no_single_offset_answers_many_positions() -> None:
    places = torch.arange(N)[None]

    def order(seed: int, permutation_seed: int) -> list[int]:
        config = parse({"task": "permutation", "seed": seed, "permutation_seed": permutation_seed})
        return list(TASK.answer(places, config.task_settings)[0].tolist())

    assert order(0, 1) == order(9, 1) != order(0, 2)

    # Else a relative encoding had an easy part.
    offsets = torch.tensor(permutation(N, 0)) - torch.arange(N)
    assert offsets.unique(return_counts=True)[1].max() <= 3
