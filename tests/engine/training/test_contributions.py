from typing import Any

import numpy as np
import pytest
import torch

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.parts import Part
from engine.encodings import ENCODINGS
from engine.estimate.layout import shapes
from engine.model.activations import ActivationCache
from engine.model.baselines import Baseline
from engine.model.build import build_model
from engine.model.transformer import Transformer
from engine.runs.events import Snapshot
from engine.tasks.base.data import IGNORE
from engine.training.contributions import contributions_in
from engine.training.data import Batch, Data
from engine.training.evaluation import forward
from engine.training.snapshot import take_snapshot
from tests.engine.tiny import TODAY, tiny_config

NORMS: list[dict[str, Any]] = [
    *({"norm": norm, "skips": skips} for norm in ("pre", "post", "none") for skips in (True, False)),
    {"residual_scale": 0.25},
    {"norm": "post", "residual_scale": 0.5, "n_layers": 3, "share_layers": True},
    *({**TODAY, "norm": norm} for norm in ("pre", "post")),
]


def shaken(**settings: Any) -> tuple[Transformer | Baseline, Batch]:
    """A model all of whose weights differ from their first values, biases and norms among them, and held-out sequences."""
    config = tiny_config(seq_len=5, **settings)
    model = build_model(config, **shapes(config).of_model)
    with torch.no_grad():
        for number, weight in enumerate(model.parameters()):
            weight.add_(0.2 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(number)))
    return model.eval(), Data(config).validation_batch(size=2)


def first_snapshot(model: Transformer | Baseline, batch: Batch) -> Snapshot:
    return take_snapshot(model.config, model, batch, 0)


def right_logit(model: Transformer | Baseline, batch: Batch) -> np.ndarray:
    """The logit of the right symbol at the positions of the first sequence, less the mean over all classes; NaN where none is asked."""
    with torch.no_grad():
        logits, targets = forward(model, batch)[0].float(), batch.targets[0]
    picked = logits.gather(1, targets.clamp_min(0)[:, None])[:, 0] - logits.mean(dim=-1)
    return picked.masked_fill(targets == IGNORE, float("nan")).numpy()


def summed(contributions: dict[str, np.ndarray]) -> np.ndarray:
    rows: np.ndarray = np.concatenate([part.reshape(-1, part.shape[-1]) for part in contributions.values()])
    return rows.sum(axis=0)


@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
@pytest.mark.parametrize("settings", NORMS, ids=str)
def test_the_contributions_of_all_parts_add_up_to_the_logit(settings: dict[str, Any], family: str) -> None:
    model, batch = shaken(family=family, **settings)
    contributions = first_snapshot(model, batch).contributions
    np.testing.assert_allclose(summed(contributions), right_logit(model, batch), rtol=1e-4, atol=1e-3)
    kinds = {"self", "mlp", "embedding", "bias"} | ({"cross"} if family == "encoder_decoder" else set())
    layers, length = model.config.n_layers, batch.inputs.size(1)
    assert {kind: part.shape for kind, part in contributions.items()} == {
        kind: {"mlp": (layers, length), "embedding": (length,), "bias": (length,)}.get(kind, (layers, 4, length))
        for kind in kinds
    }
    assert {part.dtype for part in contributions.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    "settings",
    [
        *({"pos_encoding": name} for name in ENCODINGS),
        {"tie_embeddings": True},
        {"qk_norm": True, "d_head": 8},
        {"softmax_plus_one": True, "attention_gate": True},
        {"dropout": 0.5},
        {"mlp": False},
        {"task": "hops", "attention_impl": "materialised"},
    ],
    ids=str,
)
def test_they_add_up_with_every_encoding_and_setting(settings: dict[str, Any]) -> None:
    model, batch = shaken(**settings)
    np.testing.assert_allclose(
        summed(first_snapshot(model, batch).contributions), right_logit(model, batch), rtol=1e-4, atol=1e-3
    )


def test_a_head_of_the_last_layer_contributes_what_the_logit_falls_by_when_nothing_stands_behind_it() -> None:
    model, batch = shaken(norm="none", mlp=False, n_layers=3)
    whole = right_logit(model, batch)
    for head in range(4):
        less = right_logit(ablated(model, [Part("head", "self", 2, head)]), batch)
        np.testing.assert_allclose(
            first_snapshot(model, batch).contributions["self"][2, head], whole - less, rtol=1e-4, atol=1e-3
        )


def test_what_was_taken_away_contributes_nothing_and_the_rest_still_adds_up() -> None:
    model, batch = shaken(n_layers=3)
    parts = [Part("head", "self", 1, 2), Part("mlp", "self", 0), Part("skip", "self", 1), Part("norm", "self", 2)]
    less = ablated(model, parts)
    contributions = first_snapshot(less, batch).contributions
    np.testing.assert_allclose(summed(contributions), right_logit(less, batch), rtol=1e-4, atol=1e-3)
    has_answer = batch.targets[0].numpy() != IGNORE
    assert not contributions["self"][1, 2, has_answer].any()
    assert not contributions["mlp"][0, has_answer].any()
    assert not contributions["embedding"][has_answer].any(), "layer 2 hands nothing on"
    assert contributions["mlp"][1, has_answer].all()


def test_without_skips_only_the_last_branch_contributes_by_itself() -> None:
    model, batch = shaken(skips=False)
    contributions, has_answer = first_snapshot(model, batch).contributions, batch.targets[0].numpy() != IGNORE
    assert contributions["mlp"][1, has_answer].all()
    assert not contributions["mlp"][0, has_answer].any()
    assert not contributions["self"][:, :, has_answer].any()


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat16_mixed"])
def test_in_low_precision_they_add_up_roughly(dtype: str) -> None:
    model, batch = shaken(dtype=dtype)
    np.testing.assert_allclose(summed(first_snapshot(model, batch).contributions), right_logit(model, batch), atol=0.2)


@pytest.mark.parametrize("settings", [{}, {"norm": "post", "family": "encoder_decoder"}, {"skips": False}], ids=str)
def test_they_are_computed_without_a_look_at_any_value(settings: dict[str, Any]) -> None:
    """The device ``meta`` has no values: code that waited for one, as nothing in a recorded CUDA graph may, would fail."""
    model, batch = shaken(**settings)
    cache: ActivationCache = {}
    with torch.no_grad():
        forward(model, batch, cache)
        there = contributions_in(cache, model, batch.targets[0])
        nowhere = {name: tensor.to("meta") for name, tensor in cache.items()}
        found = contributions_in(nowhere, model.to("meta"), batch.targets[0].to("meta"))
    assert {kind: part.shape for kind, part in found.items()} == {kind: part.shape for kind, part in there.items()}


def test_a_model_without_attention_has_none() -> None:
    assert first_snapshot(*shaken(family="gru")).contributions == {}
