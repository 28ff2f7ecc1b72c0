import itertools
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from engine.encodings import ENCODINGS
from engine.model.activations import ActivationCache
from engine.model.attention import Attention
from engine.model.layers import Dropout
from engine.model.masks import causal_mask, padding_mask
from engine.model.transformer import Transformer
from tests.engine.tiny import LENGTH, TODAY, given_to, tiny_model, tokens

# one query with one key, [d_head] each; w are an additive score's weights
COMPARE: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "scaled_dot": lambda q, k, w: q @ k / math.sqrt(len(q)),
    "dot": lambda q, k, w: q @ k,
    "cosine": lambda q, k, w: torch.cosine_similarity(q, k, dim=0) * math.sqrt(len(q)),
    "additive": lambda q, k, w: w @ torch.tanh(q + k),
}


@pytest.mark.parametrize("impl", ["fused", "materialised"])
def test_softmax_plus_one_is_softmax_with_a_zero_key_and_a_zero_value(impl: str) -> None:
    """Against the equation, exp(s_j) / (1 + sum_k exp(s_k)), and against torch's softmax over one more column (Miller 2023)."""
    settings = {"softmax_plus_one": True, "d_head": 6, "n_layers": 1}
    model, cache = tiny_model(**settings), dict[str, Tensor]()
    model(tokens(batch=2), cache=cache)
    scores, v = cache["decoder.0.self.scores"], cache["decoder.0.self.v"]
    exp = torch.where(torch.ones(LENGTH, LENGTH).tril() > 0, scores.exp(), 0.0)
    pattern = exp / (1 + exp.sum(-1, keepdim=True))
    torch.testing.assert_close(cache["decoder.0.self.pattern"], pattern)
    more = torch.nn.functional.pad(scores, (1, 0)).softmax(-1) @ torch.nn.functional.pad(v, (0, 0, 1, 0))
    torch.testing.assert_close(pattern @ v, more)
    mixed = more.transpose(1, 2).flatten(2)
    patterns: list[Tensor] = []
    other = tiny_model(**settings, attention_impl=impl)
    other.stack.blocks[0].attention.out.register_forward_pre_hook(lambda _, given: patterns.append(given[0]))
    other(tokens(batch=2))
    torch.testing.assert_close(patterns[0], mixed)


@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
def test_a_gate_multiplies_what_a_head_has_read_by_a_sigmoid_of_the_token_that_reads(family: str) -> None:
    """Y = Y * sigmoid(X W), head by head, before the output projection (Qiu et al. 2025)."""
    model = tiny_model(family=family, attention_gate=True, n_layers=1, d_head=6)
    read: dict[str, Tensor] = {}
    attentions = {name: module for name, module in model.named_modules() if isinstance(module, Attention)}
    for name, attention in attentions.items():
        attention.register_forward_pre_hook(lambda _, given, name=name: read.update({name: given[0]}))
    cache: ActivationCache = {}
    model(**given_to(model), cache=cache)
    for name, attention in attentions.items():
        stack = "encoder" if family == "encoder" or name.startswith("source") else "decoder"
        tap = f"{stack}.0.{'cross' if name.endswith('cross') else 'self'}"
        opened = 1 / (1 + (-attention.gate(read[name])).exp())
        plain = (cache[f"{tap}.pattern"] @ cache[f"{tap}.v"]).transpose(1, 2).flatten(2)
        torch.testing.assert_close(cache[f"{tap}.out"], attention.out(opened * plain))


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


def normed(t: Tensor, scale: Tensor) -> Tensor:
    """LayerNorm without a bias, written out (Ba et al. 2016, equation 3); of vectors [..., d_head]."""
    centred = t - t.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * scale


@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
def test_qk_norm_comes_after_the_projection_and_before_the_rotation(family: str) -> None:
    """In self-attention, which rotates, and in cross-attention, which does not; values stay as they are."""
    model = tiny_model(family=family, qk_norm=True, pos_encoding="rope", n_layers=1, d_head=6)
    read: dict[str, tuple[Tensor, Tensor]] = {}  # what each attention was given, by its place
    attentions = {name: module for name, module in model.named_modules() if isinstance(module, Attention)}
    for name, attention in attentions.items():
        torch.nn.init.normal_(attention.q_norm.weight)
        torch.nn.init.normal_(attention.k_norm.weight)
        attention.register_forward_pre_hook(lambda _, given, name=name: read.update({name: given[:2]}))
    cache: ActivationCache = {}
    model(**given_to(model), cache=cache)
    assert len(attentions) == {"decoder": 1, "encoder": 1, "encoder_decoder": 3}[family]
    for name, attention in attentions.items():
        cross = name.endswith("cross")
        stack = "encoder" if family == "encoder" or name.startswith("source") else "decoder"
        tap = f"{stack}.0.{'cross' if cross else 'self'}"
        x, memory = read[name]
        q, k, v = (
            part(given).unflatten(-1, (4, 6)).transpose(1, 2)
            for part, given in ((attention.q, x), (attention.k, memory), (attention.v, memory))
        )
        q, k = normed(q, attention.q_norm.weight), normed(k, attention.k_norm.weight)
        for part, expected in (("q", q), ("k", k), ("v", v)):
            torch.testing.assert_close(cache[f"{tap}.{part}"], expected)
        turned = (q, k) if cross else (model.encoding.rotate(t, range(t.size(2))) for t in (q, k))
        bias = causal_mask(LENGTH, "none", None, CPU, q.dtype).bias if stack == "decoder" and not cross else 0.0
        expected = scores_of(*turned) + bias
        torch.testing.assert_close(cache[f"{tap}.scores"], expected)


def scores_of(q: Tensor, k: Tensor) -> Tensor:
    return torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(-1))


def test_with_qk_norm_no_score_outgrows_the_head_however_large_the_weights_are() -> None:
    """|LN(q) . LN(k)| / sqrt(d_head) is at most sqrt(d_head) while the learned scales are 1."""
    largest = {}
    for qk_norm in (False, True):
        model = tiny_model(qk_norm=qk_norm, n_layers=1, family="encoder")
        with torch.no_grad():
            model.stack.blocks[0].attention.q.weight.mul_(1000)
        cache: ActivationCache = {}
        model(tokens(), cache=cache)
        largest[qk_norm] = cache["encoder.0.self.scores"].abs().max().item()
    assert largest[True] <= math.sqrt(16 / 4) < 100 < largest[False]


@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_heads_that_share_keys_and_values_are_heads_with_equal_ones(name: str, family: str) -> None:
    """Logits, scores and patterns of grouped queries are those of as many heads whose keys and values are copies."""
    shared = tiny_model(pos_encoding=name, family=family, kv_heads=2)
    apart = tiny_model(pos_encoding=name, family=family)
    weights = shared.state_dict()
    for key, weight in weights.items():
        if any(part in key for part in ("attention.k.", "attention.v.", "cross.k.", "cross.v.")):
            weights[key] = weight.unflatten(0, (2, 4)).repeat_interleave(2, dim=0).flatten(0, 1)
    apart.load_state_dict(weights)
    caches: list[ActivationCache] = [{}, {}]
    logits = [model(**given_to(model), cache=cache) for model, cache in zip((shared, apart), caches, strict=True)]
    torch.testing.assert_close(*logits)
    torch.testing.assert_close(*caches)


# encodings of each kind, which are tested with every score in every family; the others with each once
PRODUCTS = ("nope", "alibi", "rope")
OTHERS = [name for name in ENCODINGS if name not in PRODUCTS]
SCORES, FAMILIES = ("scaled_dot", "dot", "cosine"), ("decoder", "encoder", "encoder_decoder")


@pytest.mark.parametrize(
    ("name", "score", "family", "fault"),
    [
        *((name, *both, "none") for name in PRODUCTS for both in itertools.product(SCORES, FAMILIES)),
        *((name, *both, "none") for name in OTHERS for both in zip(SCORES, FAMILIES, strict=True)),
        *((name, "qk_norm", family, "none") for name in PRODUCTS for family in FAMILIES),
        *((name, "today", family, "none") for name in PRODUCTS for family in FAMILIES),
        *((name, "plus_one", family, "none") for name in PRODUCTS for family in FAMILIES),
        *((name, "plus_one", "decoder", "none") for name in OTHERS),
        *(("nope", "plus_one", "decoder", fault) for fault in ("missing", "off_by_one")),
        *itertools.product(ENCODINGS, ["scaled_dot"], ["decoder"], ["missing", "transposed", "off_by_one"]),
    ],
)
def test_fused_equals_materialised(name: str, score: str, family: str, fault: str) -> None:
    """Outputs and every gradient, with and without padding and faults of the mask."""
    both = {"softmax_plus_one": True, "attention_gate": True}
    compared = {"qk_norm": {"qk_norm": True}, "today": TODAY, "plus_one": both}.get(score, {"attention_score": score})
    settings = {"pos_encoding": name, "family": family, "mask_fault": fault, **compared}
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


CPU = torch.device("cpu")
ALL = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
# both ways give the same numbers and gradients with every encoding, as is tested above: each family is tested in one of them
PAIRS = [("decoder", "materialised"), ("encoder", "fused"), ("encoder_decoder", "materialised")]
VISIBLE = {"none": ALL.tril(), "missing": ALL, "transposed": ALL.triu(), "off_by_one": ALL.tril(1)}


def influence(model: Transformer) -> Tensor:
    """True if output i depends at all on the input embedding j, bool [i, j], by gradient: row i of a batch of one sequence over and
    over is asked for output i alone."""
    gradients: list[Tensor] = []
    handle = model.embedding.register_forward_hook(lambda _, __, out: gradients.append(out))
    logits = model(**{name: read[:1].expand(LENGTH, -1) for name, read in given_to(model).items()})
    handle.remove()
    embedded = gradients[-1]  # an encoder-decoder embeds its source first
    (gradient,) = torch.autograd.grad(logits.diagonal(dim1=0, dim2=1).square().sum(), embedded)
    return gradient.abs().amax(-1) > 0  # [i, j, d_model] -> [i, j]


@pytest.mark.parametrize(("family", "impl"), PAIRS)
@pytest.mark.parametrize("name", ENCODINGS)
def test_a_causal_stack_leaks_nothing_and_an_encoder_sees_everything(name: str, family: str, impl: str) -> None:
    model = tiny_model(pos_encoding=name, family=family, attention_impl=impl)
    assert torch.equal(influence(model), ALL if family == "encoder" else VISIBLE["none"])


@pytest.mark.parametrize(("fault", "impl"), zip(VISIBLE, ("fused", "materialised") * 2, strict=True))
@pytest.mark.parametrize("name", ENCODINGS)
def test_each_fault_shows_exactly_what_it_says(name: str, fault: str, impl: str) -> None:
    model = tiny_model(pos_encoding=name, mask_fault=fault, attention_impl=impl, n_layers=1)
    # An encoding that reads earlier tokens brings them along with each token that may be seen.
    brought = ALL.tril() & ALL.triu(-model.encoding.reads_before)
    visible = VISIBLE[fault].double() @ brought.double() > 0
    assert torch.equal(influence(model), visible | brought)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_blocked_pairs_get_a_weight_of_exactly_zero(dtype: torch.dtype) -> None:
    mask = causal_mask(5, "none", None, CPU, dtype)
    pattern = (10 * torch.randn(2, 4, 5, 5).to(dtype) + mask.bias).softmax(-1)
    assert (pattern[..., mask.blocked] == 0).all()
    assert torch.equal(mask.blocked, ~torch.ones(5, 5, dtype=torch.bool).tril())


def test_a_mask_is_made_only_where_something_is_hidden_and_a_query_in_padding_keeps_something_to_look_at() -> None:
    real = torch.tensor([[False, False, True, True], [False] * 4])
    mask = causal_mask(4, "none", real, CPU, torch.float32)
    visible = ~mask.blocked[0, 0]
    assert visible.tolist() == [[True] * 4, [True] * 4, [False, False, True, False], [False, False, True, True]]
    assert not mask.blocked[1].any()

    assert causal_mask(5, "missing", None, CPU, torch.float32) is None
    assert padding_mask(None, torch.float32) is None


@pytest.mark.parametrize(("family", "impl"), PAIRS)
@pytest.mark.parametrize("name", ENCODINGS)
def test_padding_changes_nothing_for_real_tokens(name: str, family: str, impl: str) -> None:
    model = tiny_model(pos_encoding=name, family=family, attention_impl=impl)
    real = torch.arange(LENGTH).expand(3, -1) < 6
    source = {"source": tokens(4, seed=5)} if family == "encoder_decoder" else {}
    alone = model(tokens()[:, :6], **source)
    for rubbish in (1, 2):  # whatever stands in the padding
        padded = torch.where(real, tokens(), tokens(seed=rubbish))
        torch.testing.assert_close(model(padded, token_mask=real, **source)[:, :6], alone)


@pytest.mark.parametrize(("fault", "axis"), [("none", "key"), ("transposed", "key"), ("transposed", "query")])
@pytest.mark.parametrize("name", ENCODINGS)
def test_a_fully_padded_row_is_finite(name: str, fault: str, axis: str) -> None:
    settings = {"pos_encoding": name, "mask_fault": fault, "softmax_axis": axis, "attention_impl": "materialised"}
    model = tiny_model(family="encoder_decoder", **settings)
    real = torch.tensor([[True] * LENGTH, [False] * LENGTH, [False] * 4 + [True] * 6])
    logits = model(**given_to(model), token_mask=real)
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


@pytest.mark.parametrize("fault", VISIBLE)
def test_softmax_over_queries_shares_each_key_among_those_who_see_it(fault: str) -> None:
    model = tiny_model(softmax_axis="query", attention_impl="materialised", mask_fault=fault, n_layers=1)
    cache: ActivationCache = {}
    model(**given_to(model), cache=cache)
    pattern = cache["decoder.0.self.pattern"]
    assert (pattern[..., ~VISIBLE[fault]] == 0).all()
    torch.testing.assert_close(pattern.sum(-2), torch.ones(3, 4, LENGTH).double())
    assert not torch.allclose(pattern.sum(-1), torch.ones(3, 4, LENGTH).double())
