"""Who sees whom: measured as the gradient of each output with respect to each embedding."""

import pytest
import torch
from torch import Tensor

from engine.encodings import ENCODINGS
from engine.model.activations import ActivationCache
from engine.model.masks import causal_mask, padding_mask
from engine.model.transformer import Transformer
from tests.engine.tiny import LENGTH, given_to, tiny_model, tokens

CPU = torch.device("cpu")
EVERYTHING = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
SEEN = {
    "none": EVERYTHING.tril(),
    "missing": EVERYTHING,
    "transposed": EVERYTHING.triu(),
    "off_by_one": EVERYTHING.tril(1),
}


def influence(model: Transformer) -> Tensor:
    """Whether output i depends at all on the input embedding j, bool [i, j], by gradient: row i of a batch of one sequence
    over and over is asked for output i alone."""
    kept: list[Tensor] = []
    handle = model.embedding.register_forward_hook(lambda _, __, out: kept.append(out))
    logits = model(**{name: read[:1].expand(LENGTH, -1) for name, read in given_to(model).items()})
    handle.remove()
    embedded = kept[-1]  # an encoder-decoder embeds its source first
    (gradient,) = torch.autograd.grad(logits.diagonal(dim1=0, dim2=1).square().sum(), embedded)
    return gradient.abs().amax(-1) > 0  # [i, j, d_model] -> [i, j]


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("family", ["decoder", "encoder_decoder", "encoder"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_a_causal_stack_leaks_nothing_and_an_encoder_sees_everything(name: str, family: str, impl: str) -> None:
    model = tiny_model(pos_encoding=name, family=family, attention_impl=impl)
    assert torch.equal(influence(model), EVERYTHING if family == "encoder" else SEEN["none"])


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("fault", SEEN)
def test_each_fault_shows_exactly_what_it_says(fault: str, name: str, impl: str) -> None:
    model = tiny_model(pos_encoding=name, mask_fault=fault, attention_impl=impl, n_layers=1)
    # An encoding that reads earlier tokens brings them along with each token that may be seen.
    brought = EVERYTHING.tril() & EVERYTHING.triu(-model.encoding.reads_before)
    seen = SEEN[fault].double() @ brought.double() > 0
    assert torch.equal(influence(model), seen | brought)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_blocked_pairs_get_a_weight_of_exactly_zero(dtype: torch.dtype) -> None:
    mask = causal_mask(5, "none", None, CPU, dtype)
    assert mask is not None
    pattern = (10 * torch.randn(2, 4, 5, 5).to(dtype) + mask.bias).softmax(-1)
    assert (pattern[..., mask.blocked] == 0).all()
    assert torch.equal(mask.blocked, ~torch.ones(5, 5, dtype=torch.bool).tril())


def test_a_mask_is_made_only_where_something_is_hidden_and_a_query_in_padding_keeps_something_to_look_at() -> None:
    real = torch.tensor([[False, False, True, True], [False] * 4])
    mask = causal_mask(4, "none", real, CPU, torch.float32)
    assert mask is not None
    seen = ~mask.blocked[0, 0]
    assert seen.tolist() == [[True] * 4, [True] * 4, [False, False, True, False], [False, False, True, True]]
    assert not mask.blocked[1].any()

    assert causal_mask(5, "missing", None, CPU, torch.float32) is None
    assert padding_mask(None, torch.float32) is None


@pytest.mark.parametrize(
    ("family", "impl"),
    [("decoder", "fused"), ("decoder", "materialised"), ("encoder", "fused"), ("encoder_decoder", "materialised")],
)
@pytest.mark.parametrize("name", ENCODINGS)
def test_padding_changes_nothing_for_real_tokens(name: str, family: str, impl: str) -> None:
    model = tiny_model(pos_encoding=name, family=family, attention_impl=impl)
    real = torch.arange(LENGTH).expand(3, -1) < 6
    source = {"source": tokens(4, seed=5)} if family == "encoder_decoder" else {}
    alone = model(tokens()[:, :6], **source)
    for rubbish in (1, 2):  # whatever stands in the padding
        padded = torch.where(real, tokens(), tokens(seed=rubbish))
        if source:
            longer = torch.cat([source["source"], tokens(3, seed=rubbish)], 1)
            given = {"source": longer, "source_token_mask": torch.arange(7).expand(3, -1) < 4}
        else:
            given = {}
        torch.testing.assert_close(model(padded, token_mask=real, **given)[:, :6], alone)


@pytest.mark.parametrize(("fault", "axis"), [("none", "key"), ("transposed", "key"), ("transposed", "query")])
@pytest.mark.parametrize("name", ENCODINGS)
def test_a_fully_padded_row_is_finite(name: str, fault: str, axis: str) -> None:
    settings = {"pos_encoding": name, "mask_fault": fault, "softmax_axis": axis, "attention_impl": "materialised"}
    model = tiny_model(family="encoder_decoder", **settings)
    real = torch.tensor([[True] * LENGTH, [False] * LENGTH, [False] * 4 + [True] * 6])
    logits = model(**given_to(model), token_mask=real, source_token_mask=real[:, :6] & False)
    logits.square().sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_softmax_over_queries_gives_padding_no_weight() -> None:
    model = tiny_model(softmax_axis="query", attention_impl="materialised", family="encoder", n_layers=1)
    real = torch.arange(LENGTH).expand(3, -1) < 6
    cache: ActivationCache = {}
    model(tokens(), token_mask=real, cache=cache)
    pattern = cache["encoder.0.self.pattern"]
    assert (pattern[..., 6:] == 0).all()
    assert (pattern[..., :6] > 0).all()


@pytest.mark.parametrize("fault", SEEN)
def test_softmax_over_queries_shares_each_key_among_those_who_see_it(fault: str) -> None:
    model = tiny_model(softmax_axis="query", attention_impl="materialised", mask_fault=fault, n_layers=1)
    cache: ActivationCache = {}
    model(**given_to(model), cache=cache)
    pattern = cache["decoder.0.self.pattern"]
    assert (pattern[..., ~SEEN[fault]] == 0).all()
    torch.testing.assert_close(pattern.sum(-2), torch.ones(3, 4, LENGTH).double())
    assert not torch.allclose(pattern.sum(-1), torch.ones(3, 4, LENGTH).double())
