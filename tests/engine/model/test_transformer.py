import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.encodings import ENCODINGS
from engine.model.activations import ActivationCache, in_mode
from engine.model.block import Residual
from engine.model.key_value_cache import KeyValueCache, cached_logits
from tests.engine.tiny import LENGTH, N_OUTPUTS, TODAY, given_to, tiny_config, tiny_model, tokens

WIDTH, HEADS, HIDDEN = 16, 4, 24


def copy_attention(theirs: nn.MultiheadAttention, ours: nn.Module) -> None:
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.q.weight, ours.k.weight, ours.v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.q.bias, ours.k.bias, ours.v.bias]))
    theirs.out_proj.load_state_dict(ours.out.state_dict())


def copy_block(theirs: nn.Module, ours: nn.Module) -> None:
    """Copy our block's weights into one of torch's layers."""
    copy_attention(theirs.self_attn, ours.attention)
    residuals = [ours.attention_residual, ours.mlp_residual]
    if ours.cross is not None:
        copy_attention(theirs.multihead_attn, ours.cross)
        residuals.insert(1, ours.cross_residual)
    theirs.linear1.load_state_dict(ours.mlp.up.state_dict())
    theirs.linear2.load_state_dict(ours.mlp.down.state_dict())
    for number, residual in enumerate(residuals, 1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


def shake_norms(model: nn.Module) -> None:
    """Norms start as the identity: move them, so that a wrong one shows."""
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
def test_stacks_agree_with_torchs_own_layers(family: str, activation: str, norm: str, impl: str) -> None:
    flat = {"family": family, "activation": activation, "norm": norm, "attention_impl": impl}
    model = tiny_model(**flat, d_ff=HIDDEN, pos_encoding="nope")
    shake_norms(model)
    given = given_to(model)
    real = torch.arange(LENGTH).expand(3, -1) < torch.tensor([[LENGTH], [7], [4]])
    settings = {"dropout": 0.0, "activation": activation, "norm_first": norm == "pre", "batch_first": True}

    def through(stack: nn.Module, x: Tensor, memory: Tensor | None = None, **masks: Tensor | None) -> Tensor:
        kind = nn.TransformerEncoderLayer if memory is None else nn.TransformerDecoderLayer
        layer = kind(WIDTH, HEADS, HIDDEN, **settings).double()
        for block in stack.blocks:
            copy_block(layer, block)
            x = layer(x, **masks) if memory is None else layer(x, memory, **masks)
        return stack.norm(x)

    future = nn.Transformer.generate_square_subsequent_mask(LENGTH).isinf()
    x, memory = model.embedding(given["inputs"]), None
    if model.source_stack is not None:
        memory = through(model.source_stack, model.embedding(given["source"]))
        masks = {"tgt_mask": future, "tgt_key_padding_mask": ~real}
    else:
        masks = {"src_mask": future if family == "decoder" else None, "src_key_padding_mask": ~real}
    expected = model.head(through(model.stack, x, memory, **masks))
    torch.testing.assert_close(model(**given, token_mask=real)[real], expected[real])


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_a_branch_joins_as_its_equation_says(norm: str, scale: float, skips: bool) -> None:
    residual = Residual(tiny_config(norm=norm, residual_scale=scale, skips=skips))
    shake_norms(residual)
    x, branch = torch.randn(2, 5, 16), torch.randn(2, 5, 16)
    joined = scale * branch + (x if skips else 0)
    torch.testing.assert_close(residual.before(x), residual.norm(x) if norm == "pre" else x)
    torch.testing.assert_close(residual.after(x, branch), residual.norm(joined) if norm == "post" else joined)
    assert isinstance(residual.norm, nn.Identity) == (norm == "none")


def rms(x: Tensor, scale: Tensor) -> Tensor:
    """RMSNorm written out (Zhang and Sennrich 2019, equation 4), of vectors [..., width]."""
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * scale


def test_a_decoder_of_today_agrees_with_the_equations_of_its_papers() -> None:
    """RMSNorm, also of queries and keys; pairs of query heads that share keys and values; a quarter of the first values in later
    ones; SwiGLU; norms divided by the root of the layer's number."""
    model = tiny_model(**TODAY, n_layers=3, pos_encoding="nope")
    for name, parameter in model.named_parameters():
        if "norm" in name:
            nn.init.normal_(parameter)
    x, first = model.embedding(tokens()), None
    later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    for number, block in enumerate(model.stack.blocks, 1):
        attention, mlp = block.attention, block.mlp
        read = rms(x, block.attention_residual.norm.weight) / number**0.5
        q = rms(attention.q(read).unflatten(-1, (4, 4)), attention.q_norm.weight)  # [batch, length, head, d_head]
        k = rms(attention.k(read).unflatten(-1, (2, 4)), attention.k_norm.weight)
        v = attention.v(read).unflatten(-1, (2, 4))
        v, first = (v, v) if first is None else (0.75 * v + 0.25 * first, first)
        heads = []
        for head in range(4):
            scores = q[:, :, head] @ k[:, :, head // 2].mT / 4**0.5
            heads.append(scores.masked_fill(later, -torch.inf).softmax(-1) @ v[:, :, head // 2])
        x = x + attention.out(torch.cat(heads, dim=-1))
        read = rms(x, block.mlp_residual.norm.weight) / number**0.5
        x = x + mlp.down(nn.functional.silu(mlp.up(read)) * mlp.gate(read))
    torch.testing.assert_close(model(tokens()), model.head(rms(x, model.stack.norm.weight)))


def test_swiglu_has_as_many_weights_as_the_mlp_that_it_replaces() -> None:
    usual, gated = (tiny_model(activation=name, d_ff=48).stack.blocks[0].mlp for name in ("gelu", "swiglu"))
    weights = [sum(p.numel() for p in mlp.parameters() if p.ndim == 2) for mlp in (usual, gated)]
    assert weights == [2 * 16 * 48, 3 * 16 * 32]
    assert weights[0] == weights[1]


def test_with_a_whole_value_residual_all_layers_have_the_first_ones_values() -> None:
    """The SVFormer of Zhou et al. 2024; the encoder of an encoder-decoder has its own first layer, cross-attention none."""
    model = tiny_model(value_residual=1.0, n_layers=3, family="encoder_decoder")
    cache: ActivationCache = {}
    model(**given_to(model), cache=cache)
    for stack in ("encoder", "decoder"):
        first = cache[f"{stack}.0.self.v"]
        assert all(torch.equal(cache[f"{stack}.{layer}.self.v"], first) for layer in (1, 2))
    assert not torch.allclose(cache["decoder.1.cross.v"], cache["decoder.0.cross.v"])


def test_a_block_without_mlp_or_activation() -> None:
    assert not [name for name, _ in tiny_model(mlp=False).named_parameters() if "mlp" in name]
    mlp = tiny_model(activation="none").stack.blocks[0].mlp
    x, y = torch.randn(2, 1, 4, 16).double()
    zero = mlp(torch.zeros_like(x))
    torch.testing.assert_close(mlp(x + y) - zero, (mlp(x) - zero) + (mlp(y) - zero))


@pytest.mark.parametrize("name", ENCODINGS)
def test_shared_layers_are_one_set_of_weights_used_at_every_depth(name: str) -> None:
    shared = tiny_model(pos_encoding=name, n_layers=3, share_layers=True)
    once = tiny_model(pos_encoding=name, n_layers=1)
    assert [n for n, _ in shared.named_parameters()] == [n for n, _ in once.named_parameters()]
    apart = tiny_model(pos_encoding=name, n_layers=3)
    weights = {key: shared.state_dict()[re.sub(r"^(stack\.\w+)\.\d", r"\1.0", key)] for key in apart.state_dict()}
    apart.load_state_dict(weights)
    torch.testing.assert_close(shared(tokens()), apart(tokens()))
    assert not torch.allclose(shared(tokens()), once(tokens()))


@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
def test_taps_come_in_the_order_of_computation(family: str) -> None:
    model = tiny_model(family=family, n_layers=1)
    cache: ActivationCache = {}
    logits = model(**given_to(model), cache=cache)
    inner = ["q", "k", "v", "scores", "pattern", "mixed", "out"]
    mlp = ["mlp.hidden", "mlp.out", "out"]
    encoder = [f"encoder.0.{n}" for n in [*(f"self.{part}" for part in inner), *mlp]]
    cross = [f"cross.{part}" for part in inner] if family == "encoder_decoder" else []
    decoder = [f"decoder.0.{n}" for n in [*(f"self.{part}" for part in inner), *cross, *mlp]]
    expected = {
        "decoder": ["embedding", *decoder],
        "encoder": ["embedding", *encoder],
        "encoder_decoder": ["source_embedding", *encoder, "embedding", *decoder],
    }
    assert list(cache) == [*expected[family], "logits"]
    assert cache["logits"] is logits
    assert (logits.shape, cache["embedding"].shape) == ((3, LENGTH, N_OUTPUTS), (3, LENGTH, WIDTH))


def test_an_encoder_decoder_asks_for_its_source() -> None:
    with pytest.raises(ValueError, match="needs a source"):
        tiny_model(family="encoder_decoder")(tokens())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_low_precision_stays_close(name: str, dtype: str) -> None:
    model, exact = (tiny_model(pos_encoding=name, dtype=given, n_heads=2) for given in (dtype, "float32"))
    model = model.to(getattr(torch, dtype))
    logits = model(tokens())
    assert logits.dtype == getattr(torch, dtype)
    torch.testing.assert_close(logits.double(), exact(tokens()), atol=0.1, rtol=0.1)


SCORED = [(name, score) for name in ENCODINGS for score in ("scaled_dot", "cosine", "additive")]


@pytest.mark.parametrize(
    "settings",
    [
        *({"pos_encoding": name, "attention_score": score, "norm": "post"} for name, score in SCORED),
        *({"pos_encoding": name, "qk_norm": True} for name in ("rope", "xpos", "shaw")),
        *({"pos_encoding": name, **TODAY} for name in ENCODINGS),
        {"share_layers": True, "n_layers": 3, "norm": "pre"},  # a shared block has a cache at every depth
    ],
    ids=str,
)
def test_writing_with_a_cache_gives_the_same_logits(settings: dict[str, Any]) -> None:
    model = tiny_model(**settings, attention_impl="materialised").eval()
    read, cache = tokens(), KeyValueCache()
    written = torch.cat([cached_logits(model, token, cache) for token in read.split(1, dim=1)], dim=1)
    assert torch.allclose(written, model(read), atol=1e-10)
    depth, width = model.config.n_layers, 4 * model.config.key_heads
    assert (
        cache.bytes == 2 * depth * read.numel() * width * 8
    )  # keys and values, layers, tokens, width, bytes of a double


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_the_mode_is_put_back_also_after_an_exception(before: bool, inside: bool) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout()).train(before)

    def fail() -> None:
        with in_mode(model, training=inside):
            assert all(part.training is inside for part in model.modules())
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert all(part.training is before for part in model.modules())
