"""What encodings are said to compute, against torch's own count of every matrix product and convolution of a step."""

from functools import lru_cache
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from engine.encodings import ENCODINGS
from engine.estimate.flops import encoding_flops, flops_per_step
from engine.estimate.layout import Shapes
from engine.estimate.memory import count_parameters
from engine.estimate.prediction import added_flops, predict
from tests.engine.tiny import LENGTH, N_OUTPUTS, N_TOKENS, SOURCE_LENGTH, given_to, tiny_config, tiny_model

WRITTEN = [name for name in ENCODINGS if name != "designed"]
STEP = {"batch_size": 3, "attention_impl": "materialised"}
DESIGNS = [
    {"design_place": place, "design_features": features, "design_readout": readout}
    for place, features, readout in (
        *(("embedding", features, "linear") for features in ("table", "sinusoids", "fourier", "network")),
        *(("embedding", "convolution", readout) for readout in ("direct", "linear", "network")),
        ("scores", "fourier", "network"),
        ("scores", "network", "direct"),
        ("rotation", "network", "direct"),
    )
]


def counted(**settings: Any) -> float:
    """Operations of the products and convolutions of one training step."""
    model = tiny_model(max_positions=LENGTH, **STEP, **settings)
    with FlopCounterMode(display=False) as counter:
        model(**given_to(model)).sum().backward()
    ops = counter.get_flop_counts()["Global"]
    # Torch counts the gradient of a depthwise kernel as if every channel met every other.
    there, back = (ops.get(op, 0) for op in (torch.ops.aten.convolution, torch.ops.aten.convolution_backward))
    return sum(ops.values()) - back + there + (back - there) / model.config.d_model


@lru_cache
def counted_without(family: str, **asked: Any) -> float:
    return counted(family=family, pos_encoding="nope", **asked)


CASES: list[dict[str, Any]] = [
    *({"pos_encoding": name, "family": f} for name in WRITTEN for f in ("decoder", "encoder_decoder")),
    {"family": "encoder", "pos_encoding": "shaw", "shaw_values": False},
    {"family": "encoder", "pos_encoding": "fire", "share_layers": True},
    {"family": "encoder", "pos_encoding": "xpos", "attention_score": "additive"},
    {"family": "encoder", "pos_encoding": "mlp", "position_mlp_layers": 1},
    *(
        {"family": "decoder", "pos_encoding": "designed", "design_learned": learned, **parts}
        for learned in ("everything", "features", "readout", "nothing")
        for parts in DESIGNS
    ),
]


@pytest.mark.parametrize("settings", CASES, ids=lambda settings: "-".join(map(str, settings.values())))
def test_every_product_of_an_encoding_is_counted(settings: dict[str, Any]) -> None:
    """Also of settings that change what is computed, and of a design by its parts and what of it is learned."""
    config = tiny_config(**STEP, **settings)
    told = encoding_flops(config, LENGTH, SOURCE_LENGTH if config.family == "encoder_decoder" else None)
    asked = {name: value for name, value in settings.items() if name in ("share_layers", "attention_score")}
    assert told.matmul == counted(**settings) - counted_without(config.family, **asked)


@pytest.mark.parametrize("settings", [
    *({"pos_encoding": name, "family": "decoder"} for name in ("nope", "shaw", "cope")),
    {"pos_encoding": "rope", "family": "decoder", "qk_norm": True},
    {"pos_encoding": "nope", "family": "decoder", "share_layers": True},
    {"pos_encoding": "nope", "family": "encoder_decoder"},
], ids=lambda settings: "-".join(map(str, settings.values())))  # fmt: skip
def test_the_whole_step_is_torchs_count_but_for_biases_and_norms(settings: dict[str, Any]) -> None:
    config = tiny_config(**STEP, **settings)
    source = SOURCE_LENGTH if config.family == "encoder_decoder" else None
    parts = count_parameters(config, Shapes(N_TOKENS, N_OUTPUTS, LENGTH, source, LENGTH))
    blocks, attentions = (config.n_layers, 4) if source is None else (2 * config.n_layers, 6)
    biases = blocks * (attentions * 16 + config.mlp_width + 16)
    scales = blocks * 2 * config.head_width * config.qk_norm
    norms = parts["norm"] * (config.n_layers if config.share_layers else 1)
    tokens = config.batch_size * (LENGTH if source is None else (LENGTH + source) / 2)
    vectors = 6.0 * (tokens * (norms + biases + scales) + config.batch_size * LENGTH * N_OUTPUTS)
    told = flops_per_step(config, parts, LENGTH, source) - vectors - encoding_flops(config, LENGTH, source).elementwise
    assert told == counted(**settings)


def test_a_formula_without_products_counts_its_operations() -> None:
    pairs = 2 * 4 * LENGTH**2  # layers, heads
    assert encoding_flops(tiny_config(pos_encoding="kerple", **STEP), LENGTH).total == 3 * 3 * pairs
    power = tiny_config(pos_encoding="kerple", kerple_kernel="power", **STEP)
    assert encoding_flops(power, LENGTH).total == 3 * 2 * pairs
    values = 2 * 2 * 3 * LENGTH * 16  # layers, queries and keys, tokens, width
    assert encoding_flops(tiny_config(pos_encoding="rope", **STEP), LENGTH).total == 2 * 3 * values


def test_the_prediction_holds_it_and_a_share_is_of_the_model_without() -> None:
    config = tiny_config(n_layers=3)
    plain = predict(config.replace(pos_encoding="nope")).flops_per_step
    for name in ("fourier", "mlp", "conv", "shaw", "kerple", "fire", "cope", "rope", "xpos", "designed"):
        own = added_flops(config, name)
        assert 0 < own == pytest.approx(predict(config.replace(pos_encoding=name)).flops_per_step / plain - 1)
    assert added_flops(config, "alibi") == 0
    assert added_flops(tiny_config(d_model=6, n_heads=2, pos_encoding="nope"), "rope") is None
