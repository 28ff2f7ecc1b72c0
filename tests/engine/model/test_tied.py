"""One matrix that embeds and answers: counted once, stepped once, kept once."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_model

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters, predict_memory
from engine.estimate.prediction import predict
from engine.model.build import build_model
from engine.model.load import save_weights, trained_model
from engine.training.optimizers import build_optimizers
from tests.engine.estimate.test_memory import assert_predicted

ARCHITECTURES = ("decoder", "gru", "cnn")


def tied(**settings: object) -> RunConfig:
    return parse({"tie_embeddings": True, "token_init_std": 0.1, "d_model": 16, **settings})


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_the_head_is_the_embedding_and_is_counted_once(family: str) -> None:
    config = tied(family=family)
    model = build_model(config, **shapes(config).of_model)
    assert model.head.weight is model.embedding.weight
    assert model.embedding.weight.std().item() == pytest.approx(0.1, rel=0.3), (
        "as the config says, not as a head begins"
    )
    assert sum(count_parameters(config, **shapes(config).of_model).values()) == sum(
        p.numel() for p in model.parameters()
    )
    stepped = [p for o in build_optimizers(config, model) for group in o.param_groups for p in group["params"]]
    assert sum(p is model.embedding.weight for p in stepped) == 1


def test_without_it_first_weights_are_as_ever() -> None:
    config = parse({"d_model": 16})
    a, b = (build_model(c, **shapes(c).of_model) for c in (config, config.replace(tie_embeddings=True)))
    same = dict(a.named_parameters())
    assert all(torch.equal(same[name], value) for name, value in b.named_parameters())
    assert set(same) - {name for name, _ in b.named_parameters()} == {"head.weight"}


def test_memory_and_arithmetic_are_predicted() -> None:
    config = tied(batch_size=4, seq_len=9, n_heads=2)
    sizes = {"n_tokens": 10, "n_outputs": 10, "max_positions": 30}
    free = predict_memory(config.replace(tie_embeddings=False), length=9, **sizes)
    bound = predict_memory(config, length=9, **sizes)
    assert free.parameters - bound.parameters == 4 * 10 * 16
    assert (free.saved, free.scores) == (bound.saved, bound.scores)
    assert predict(config).flops_per_step == predict(config.replace(tie_embeddings=False)).flops_per_step


def test_what_is_saved_for_backward_is_measured_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tests.engine.estimate.test_memory.SIZES", {"n_tokens": 11, "n_outputs": 11, "max_positions": 30}
    )
    for impl in ("fused", "materialised"):
        assert_predicted(tied(batch_size=4, seq_len=9, n_heads=2, vocab_size=11, attention_impl=impl))


def test_weights_come_back_tied(tmp_path: Path) -> None:
    config = tied()
    model = build_model(config, **shapes(config).of_model)
    with torch.no_grad():
        model.embedding.weight.mul_(3)
    save_weights(model, tmp_path / "w.safetensors")
    again = trained_model(config, tmp_path / "w.safetensors")
    assert again.head.weight is again.embedding.weight
    assert again.embedding.weight.equal(model.embedding.weight)
    load_model(model, str(tmp_path / "w.safetensors"))
