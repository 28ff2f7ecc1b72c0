from typing import Any

import pytest
from torch.utils.flop_counter import FlopCounterMode

from engine.estimate.flops import flops_per_step
from engine.estimate.layout import Shapes
from engine.estimate.memory import count_parameters
from tests.engine.tiny import LENGTH, N_OUTPUTS, N_TOKENS, SOURCE_LENGTH, given_to, tiny_config, tiny_model

STEP = {"batch_size": 3, "attention_impl": "materialised", "pos_encoding": "nope"}


def counted(**settings: Any) -> float:
    model = tiny_model(max_positions=LENGTH, **STEP, **settings)
    with FlopCounterMode(display=False) as counter:
        model(**given_to(model)).sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize("settings", [
    {"family": "decoder"},
    {"family": "decoder", "qk_norm": True},
    {"family": "decoder", "share_layers": True},
    {"family": "encoder_decoder"},
    {"family": "decoder", "kv_heads": 2},
    {"family": "encoder_decoder", "kv_heads": 1, "activation": "swiglu", "norm_kind": "rms"},
    {"family": "decoder", "attention_gate": True},
    {"family": "encoder_decoder", "attention_gate": True},
], ids=lambda settings: "-".join(map(str, settings.values())))  # fmt: skip
def test_the_whole_step_is_torchs_count_but_for_biases_and_norms(settings: dict[str, Any]) -> None:
    config = tiny_config(**STEP, **settings)
    source = SOURCE_LENGTH if config.family == "encoder_decoder" else None
    parts = count_parameters(config, Shapes(N_TOKENS, N_OUTPUTS, LENGTH, source, LENGTH))
    blocks, attentions = (config.n_layers, 2) if source is None else (2 * config.n_layers, 3)
    # q and out, k and v; of an encoder-decoder three attentions in two blocks
    biases = blocks * (attentions * (16 + 4 * config.key_heads) + (1 + config.gated_mlp) * config.mlp_width + 16)
    biases += (3 if source else 1) * config.n_layers * 16 * config.attention_gate
    scales = blocks * 2 * config.head_width * config.qk_norm
    norms = parts["norm"] * (config.n_layers if config.share_layers else 1)
    tokens = config.batch_size * (LENGTH if source is None else (LENGTH + source) / 2)
    vectors = 6.0 * (tokens * (norms + biases + scales) + config.batch_size * LENGTH * N_OUTPUTS)
    assert flops_per_step(config, parts, LENGTH, source) - vectors == counted(**settings)
