from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import shapes
from engine.estimate.warnings import leak_of, warnings_of
from engine.model.build import build_model

QUERIES = {"softmax_axis": "query", "attention_impl": "materialised"}
FAULTS: list[dict[str, Any]] = [
    *({"mask_fault": fault} for fault in ("missing", "transposed", "off_by_one")),
    *({**QUERIES, "pos_encoding": name} for name in ENCODINGS),
]
SOUND: list[dict[str, Any]] = [
    *({"pos_encoding": name} for name in ENCODINGS),
    *({"norm": norm} for norm in ("post", "none")),
    *({"attention_score": score, "attention_impl": "materialised"} for score in ("dot", "additive", "cosine")),
    *({name: True} for name in ("qk_norm", "share_layers", "tie_embeddings")),
    *({name: False} for name in ("skips", "mlp")),
    *({"family": family} for family in ("gru", "lstm", "cnn")),
    {"dtype": "bfloat16_mixed"}, {"position_dropout": 0.3}, {"dropout": 0.2}, {"randomized_positions": 4}, {"min_seq_len": 3},
]  # fmt: skip
READING = ({"task": "copy"}, {"task": "copy", "family": "encoder_decoder"}, {"task": "markov"})


def change_before(config: RunConfig) -> float:
    """The change of the logits before the middle with the tokens after it, of a model with random weights."""
    torch.manual_seed(0)
    sizes = shapes(config)
    model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=sizes.position_range)
    for parameter in model.eval().parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    inputs, middle = torch.randint(sizes.n_tokens, (4, sizes.length)), sizes.length // 2
    others = inputs.clone()
    others[:, middle:] = (inputs[:, middle:] + 1) % sizes.n_tokens
    source = torch.randint(sizes.n_tokens, (4, sizes.source_length)) if sizes.source_length else None
    with torch.no_grad():
        one, other = (model(tokens, source)[:, :middle] for tokens in (inputs, others))
    return float((one - other).abs().max())


@pytest.mark.parametrize("reading", READING, ids=str)
def test_a_leak_is_warned_of_exactly_where_a_prediction_depends_on_later_tokens(reading: dict[str, Any]) -> None:
    for fault in FAULTS:
        config = parse({**fault, **reading})
        assert change_before(config) > 1e-3, fault
        assert any("shows only this fault" in sentence for sentence in warnings_of(config))
    for sound in SOUND:
        if "family" in sound and "family" in reading:
            continue
        if (
            sound.get("tie_embeddings") and reading["task"] == "copy"
        ):  # its answers are not all the tokens that are read
            continue
        config = parse({**reading, **sound})
        assert change_before(config) == 0, sound
        assert leak_of(config) == ""


@pytest.mark.parametrize("flat", [{"task": "k_back"}, {"task": "reverse", "family": "encoder"}], ids=str)
def test_where_the_answer_is_not_in_the_input_a_fault_shows_nothing(flat: dict[str, Any]) -> None:
    assert leak_of(parse({**flat, **QUERIES})) == ""


def test_a_warm_up_longer_than_the_run_has_one_line_with_the_share_that_the_rate_reaches() -> None:
    assert warnings_of(parse({"warmup_steps": 4000})) == [
        "Warm-up takes 4,000 steps of 300: the rate reaches 7.5 % of its peak."
    ]
    assert warnings_of(parse({"warmup_steps": 300})) == []
    assert "reaches 50 % of" in warnings_of(parse({"warmup_steps": 200, "pretrain_steps": 200}))[0]
