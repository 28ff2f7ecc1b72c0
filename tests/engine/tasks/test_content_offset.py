"""Content offset: tokens combine symbol and offset; answers by a slow rule; people see both."""

from __future__ import annotations

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.tasks.base.data import IGNORE
from engine.training.data import Data
from engine.training.snapshot import token_names

SYMBOLS, FURTHEST = 7, 3


def config_of(**settings: object) -> RunConfig:
    given = {"task": "content_offset", "vocab_size": SYMBOLS, "max_offset": FURTHEST, "seq_len": 9, **settings}
    return parse(given)


@pytest.mark.parametrize("family", ["decoder", "encoder"])
def test_every_answer_is_the_symbol_its_token_points_at(family: str) -> None:
    batch = Data(config_of(family=family)).training_batch()
    for read, asked in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
        pairs = [(token % SYMBOLS, 1 + token // SYMBOLS) for token in read]
        for i, (_, offset) in enumerate(pairs):
            assert asked[i] == (pairs[i - offset][0] if i >= offset else IGNORE)


def test_the_model_reads_pairs_which_occur_alike_and_answers_symbols() -> None:
    sizes = shapes(config_of())
    assert (sizes.n_tokens, sizes.n_outputs) == (SYMBOLS * FURTHEST, SYMBOLS)
    assert token_names(config_of(), [3, 1, SYMBOLS + 4]) == ["3₁", "1₁", "4₂"]

    tokens = Data(config_of(batch_size=4096)).training_batch().inputs
    shares = tokens.flatten().bincount(minlength=SYMBOLS * FURTHEST) / tokens.numel()
    torch.testing.assert_close(shares, torch.full_like(shares, 1 / 21), atol=0.006, rtol=0)


def test_a_run_in_which_batches_ask_for_nothing_is_warned_of() -> None:
    often = {"seq_len": 2, "max_offset": 9, "batch_size": 2}
    (warning,) = config_of(**often).task_settings.warnings(config_of(**often))
    nothing = [
        bool((Data(config_of(**often, seed=seed)).training_batch().targets == IGNORE).all()) for seed in range(300)
    ]
    assert sum(nothing) / 300 == pytest.approx((8 / 9) ** 2, abs=0.07)
    assert "About 79% of the batches ask for nothing" in warning
    assert not list(config_of().task_settings.warnings(config_of()))
