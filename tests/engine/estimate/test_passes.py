"""The bounds of the tensors of a step and of a pass, against the tensors of real ones: never below, and not far above."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.peak import step_bytes
from engine.estimate.pieces import pass_bytes, writes_out
from engine.estimate.prediction import predict
from engine.training.evaluation import evaluate
from engine.training.measured_memory import measure_memory, peak_bytes
from engine.training.train import begin

ROWS = 32
SIZES = {"task": "k_back", "seq_len": 48, "batch_size": 8, "d_model": 32, "n_heads": 4, "n_layers": 2, "device": "cpu"}
OTHERS: dict[str, dict[str, Any]] = {
    "dropout": {"dropout": 0.1},
    "cosine": {"attention_impl": "materialised", "attention_score": "cosine"},
    "additive": {"attention_impl": "materialised", "attention_score": "additive"},
    "softmax over queries": {"attention_impl": "materialised", "softmax_axis": "query"},
    "no norm, no MLP": {"attention_impl": "materialised", "norm": "none", "mlp": False},
    "bfloat16": {"attention_impl": "materialised", "dtype": "bfloat16"},
    "encoder": {"family": "encoder", "pos_encoding": "t5_bias"},
    "encoder-decoder": {"family": "encoder_decoder", "task": "reverse", "pos_encoding": "rope"},
    "large vocabulary": {"task": "shakespeare_words", "vocab_size": 2000, "seq_len": 16, "tie_embeddings": True},
    "gru": {"family": "gru"},
    "lstm": {"family": "lstm"},
    "cnn": {"family": "cnn"},
}


def assert_bounded(config: RunConfig) -> None:
    state = begin(config)
    step = measure_memory(config, state.model, state.next_batch(), [])
    held = state.data.validation_batch(size=ROWS)
    real = {
        "step": (step.peak or 0) - step.parameters - step.gradients,
        "pass": peak_bytes(lambda: evaluate(state.model, held), torch.device("cpu")),
    }
    told = {
        "step": step_bytes(config, predict(config).memory),
        "pass": pass_bytes(config, ROWS, config.seq_len, written_out=writes_out(config)),
    }
    for name, most in (("step", 6), ("pass", 2.5)):
        assert told[name] / most < real[name] <= told[name], (name, config.flat())


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_stays_within_its_bounds(name: str, impl: str) -> None:
    assert_bounded(parse({**SIZES, "pos_encoding": name, "attention_impl": impl}))


@pytest.mark.parametrize("name", OTHERS)
def test_everything_else_stays_within_its_bounds(name: str) -> None:
    assert_bounded(parse({**SIZES, **OTHERS[name]}))
