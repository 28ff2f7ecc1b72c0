"""Attention against a slow literal transcription; fused against materialised."""

import itertools
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from engine.encodings import ENCODINGS
from engine.model.activations import ActivationCache
from engine.model.layers import Dropout
from tests.engine.tiny import LENGTH, given_to, tiny_model, tokens

COMPARE: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "scaled_dot": lambda q, k, w: q @ k / math.sqrt(len(q)),
    "dot": lambda q, k, w: q @ k,
    "cosine": lambda q, k, w: torch.cosine_similarity(q, k, dim=0) * math.sqrt(len(q)),
    "additive": lambda q, k, w: w @ torch.tanh(q + k),
}
"""One query with one key, [d_head] each; w are an additive score's own weights."""


@pytest.mark.parametrize("score", COMPARE)
def test_scores_pattern_and_output_agree_with_loops(score: str) -> None:
    model = tiny_model(attention_score=score, attention_impl="materialised", d_head=6, n_layers=1)
    attention, cache = model.stack.blocks[0].attention, dict[str, Tensor]()
    model(tokens(batch=2), cache=cache)
    q, k, v = (cache[f"decoder.0.self.{part}"] for part in "qkv")
    weights = attention.pattern.weight if score == "additive" else torch.zeros(4, 6)
    mixed = torch.zeros(2, LENGTH, 4 * 6).double()
    for b, h, i in itertools.product(range(2), range(4), range(LENGTH)):
        scores = torch.stack([COMPARE[score](q[b, h, i], k[b, h, j], weights[h]) for j in range(i + 1)])
        torch.testing.assert_close(cache["decoder.0.self.scores"][b, h, i, : i + 1], scores)
        pattern = scores.softmax(0)
        torch.testing.assert_close(cache["decoder.0.self.pattern"][b, h, i, : i + 1], pattern)
        mixed[b, i, 6 * h : 6 * h + 6] = pattern @ v[b, h, : i + 1]
    torch.testing.assert_close(cache["decoder.0.self.out"], attention.out(mixed))


PRODUCTS = ("nope", "alibi", "rope")
"""Encodings of each kind, which are seen with every score in every family; the others see each once."""
OTHERS = [name for name in ENCODINGS if name not in PRODUCTS]
SCORES, FAMILIES = ("scaled_dot", "dot", "cosine"), ("decoder", "encoder", "encoder_decoder")


@pytest.mark.parametrize(
    ("name", "score", "family", "fault"),
    [
        *((name, *both, "none") for name in PRODUCTS for both in itertools.product(SCORES, FAMILIES)),
        *((name, *both, "none") for name in OTHERS for both in zip(SCORES, FAMILIES, strict=True)),
        *itertools.product(ENCODINGS, ["scaled_dot"], ["decoder"], ["missing", "transposed", "off_by_one"]),
    ],
)
def test_fused_equals_materialised(name: str, score: str, family: str, fault: str) -> None:
    """Outputs and every gradient, with and without padding and faults of the mask."""
    settings = {"pos_encoding": name, "attention_score": score, "family": family, "mask_fault": fault}
    fused, written = (tiny_model(**settings, attention_impl=impl) for impl in ("fused", "materialised"))
    real = torch.arange(LENGTH).expand(3, -1) < torch.tensor([[LENGTH], [6], [1]])
    for padding in (None, real):
        outputs = [model(**given_to(model), token_mask=padding) for model in (fused, written)]
        torch.testing.assert_close(*outputs)
        for output, model in zip(outputs, (fused, written), strict=True):
            model.zero_grad()
            output.square().mean().backward()
        for (name_, one), other in zip(fused.named_parameters(), written.parameters(), strict=True):
            torch.testing.assert_close(one.grad, other.grad, msg=lambda text, name_=name_: f"{name_}: {text}")


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
def test_looking_changes_no_number_and_sees_every_pattern(family: str, impl: str) -> None:
    model = tiny_model(family=family, attention_impl=impl)
    cache: ActivationCache = {}
    torch.testing.assert_close(model(**given_to(model), cache=cache), model(**given_to(model)))
    patterns = {name: value for name, value in cache.items() if name.endswith(".pattern")}
    assert len(patterns) == {"decoder": 2, "encoder": 2, "encoder_decoder": 6}[family]
    for pattern in patterns.values():
        torch.testing.assert_close(pattern.sum(-1), torch.ones(pattern.shape[:-1]).double())
    if family == "encoder_decoder":  # queries of the answer, keys of the source
        assert cache["decoder.1.cross.pattern"].shape == (3, 4, LENGTH, 6)
        assert cache["encoder.1.self.pattern"].shape == (3, 4, 6, 6)


def test_dropout_keeps_the_mean_and_stops_in_evaluation() -> None:
    dropout = Dropout(0.25)
    x = torch.ones(400, 400)
    dropped = dropout(x)
    assert dropped.unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.02)
    assert dropout.eval()(x) is x


@pytest.mark.parametrize("impl", ["fused", "materialised"])
def test_dropout_reaches_the_attention_weights(impl: str) -> None:
    model = tiny_model(dropout=0.5, attention_impl=impl, n_layers=1)
    attention = model.stack.blocks[0].attention
    x = torch.randn(3, LENGTH, 16).double()
    given = (x, x, None, model.encoding, range(LENGTH))
    assert not torch.allclose(attention(*given), attention(*given))
    attention.eval()
    torch.testing.assert_close(attention(*given), attention(*given))
