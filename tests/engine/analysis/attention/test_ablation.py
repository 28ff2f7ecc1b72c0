from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.model import attention_at, user_sequence_read
from engine.analysis.attention.parts import Part, parts_named, parts_of
from engine.analysis.attention.requests import ModelRequest
from engine.analysis.measurements.head_pruning import hooked
from engine.config.run_config import parse
from engine.model.activations import ActivationCache
from engine.model.block import Block
from engine.model.build import build_model
from engine.model.masks import causal_mask
from engine.model.transformer import Transformer
from tests.engine.tiny import N_OUTPUTS, N_TOKENS, TODAY, given_to, tiny_config, tiny_model, tokens


def read(model: nn.Module, **given: Tensor) -> Tensor:
    with torch.no_grad():
        logits: Tensor = model(**given)
    return logits


def without(model: Any, *names: str) -> Any:
    return ablated(model, parts_named(model.config, names))


def by_hand(
    model: Transformer, *, skip: bool = True, norm: bool = True, mlp: bool = True, layers: tuple[int, ...] = (0, 1)
) -> Tensor:
    """The logits of a pre-LN decoder; ``skip``, ``norm`` and ``mlp`` of its second layer."""
    stack = model.stack
    x = stack.encoding.add_to_embedding(model.embedding(tokens()), range(tokens().size(1)))
    mask = causal_mask(tokens().size(1), "none", None, x.device, x.dtype)
    for layer in layers:
        block, changed = stack.blocks[layer], layer == 1
        assert isinstance(block, Block)
        assert block.mlp is not None
        assert block.mlp_residual is not None
        bare = changed and not norm
        for residual, branch in (
            (
                block.attention_residual,
                lambda read, b=block: b.attention(read, read, mask, stack.encoding, range(read.size(1))),
            ),
            (block.mlp_residual, block.mlp),
        ):
            if branch is block.mlp and changed and not mlp:
                continue
            normed = residual.norm(x) / ((layer + 1) ** 0.5 if model.config.depth_scale else 1.0)
            added = branch(x if bare else normed)
            x = added if changed and not skip else x + added
    return model.head(stack.norm(x))


@pytest.mark.parametrize(
    ("name", "hand"),
    [
        ("skip.1", {"skip": False}),
        ("norm.1", {"norm": False}),
        ("mlp.1", {"mlp": False}),
        ("layer.1", {"layers": (0,)}),
        ("layer.0", {"layers": (1,)}),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"norm_kind": "rms", "depth_scale": True, "kv_heads": 2}], ids=str)
def test_a_layer_without_a_part_is_computed_by_hand(settings: dict[str, Any], name: str, hand: dict[str, Any]) -> None:
    model = tiny_model(pos_encoding="sinusoidal", **settings).eval()
    before = deepcopy(model.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(read(without(model, name), inputs=tokens()), by_hand(model, **hand))
        torch.testing.assert_close(read(model, inputs=tokens()), by_hand(model))
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
@pytest.mark.parametrize("settings", [{}, TODAY], ids=["", "today"])
def test_a_head_is_taken_away_as_where_it_is_multiplied_by_zero(settings: dict[str, Any], family: str) -> None:
    model = tiny_model(family=family, **settings).eval()
    kinds = ("self", "encoder", "cross") if family == "encoder_decoder" else ("self",)
    for which in kinds:
        part = Part("head", which, 1, 2)
        gate = torch.ones(model.config.n_heads, model.config.head_width, dtype=torch.double)
        gate[part.head] = 0.0
        with hooked([attention_at(model, part).out], lambda _, given, gate=gate: (given[0] * gate.flatten(),)):
            expected = read(model, **given_to(model))
        without_part = ablated(model, [part])
        torch.testing.assert_close(read(without_part, **given_to(model)), expected)
        assert not torch.allclose(expected, read(model, **given_to(model)))


def test_the_mask_and_the_encoding_are_those_of_a_model_made_without_them() -> None:
    model = tiny_model(pos_encoding="learned").eval()
    for name, settings in (("mask", {"mask_fault": "missing"}), ("encoding", {"pos_encoding": "nope"})):
        made = tiny_model(**{"pos_encoding": "learned", **settings}).eval()
        made.load_state_dict(model.state_dict(), strict=False)
        torch.testing.assert_close(read(without(model, name), inputs=tokens()), read(made, inputs=tokens()))
    nowhere = without(tiny_model(family="encoder").eval(), "encoding")
    there, back = tokens(), tokens().flip(1)
    torch.testing.assert_close(read(nowhere, inputs=there).flip(1), read(nowhere, inputs=back))


def test_layers_that_share_weights_are_cut_one_by_one() -> None:
    shared = tiny_model(share_layers=True, n_layers=3).eval()
    unshared = tiny_model(n_layers=3).eval()
    for block in unshared.stack.blocks:
        block.load_state_dict(shared.stack.blocks[0].state_dict())
    unshared.stack.encodings.load_state_dict(shared.stack.encodings.state_dict())
    for rest in ("embedding", "head"):
        getattr(unshared, rest).load_state_dict(getattr(shared, rest).state_dict())
    unshared.stack.norm.load_state_dict(shared.stack.norm.state_dict())
    for name in ("skip.1", "mlp.2", "head.0.3", "layer.1"):
        found = read(without(shared, name), inputs=tokens())
        torch.testing.assert_close(found, read(without(unshared, name), inputs=tokens()))
        assert not torch.allclose(found, read(shared, inputs=tokens()))


def test_each_layers_own_encoding_goes_with_its_layer_and_the_encoder_has_parts_of_its_own() -> None:
    model = tiny_model(pos_encoding="shaw", n_layers=3).eval()
    smaller = without(model, "layer.1")
    assert [len(smaller.stack.blocks), len(smaller.stack.encodings), smaller.stack.depth] == [2, 2, 2]
    encodings = [smaller.stack.encodings[part].state_dict() for part in (0, 1)]
    there = [model.stack.encodings[part].state_dict() for part in (0, 2)]
    assert all(torch.equal(one[key], other[key]) for one, other in zip(encodings, there, strict=True) for key in one)
    none = without(model, "layer.0", "layer.1", "layer.2")
    cache: ActivationCache = {}
    none(tokens(), cache=cache)
    torch.testing.assert_close(cache["logits"], none.head(none.stack.norm(cache["embedding"])))

    both = tiny_model(family="encoder_decoder").eval()
    for name in ("skip.e0", "layer.e1", "norm.e1", "head.c0.1", "encoding", "mask"):
        assert not torch.allclose(read(without(both, name), **given_to(both)), read(both, **given_to(both))), name


@pytest.mark.parametrize(
    ("family", "names"), [("gru", {"layer"}), ("lstm", {"layer"}), ("cnn", {"layer", "skip", "norm"})]
)
def test_a_model_without_attention_loses_its_layers(family: str, names: set[str]) -> None:
    config = tiny_config(family=family)
    assert {part.kind for part in parts_of(config).values()} == names
    model = build_model(config, n_tokens=N_TOKENS, n_outputs=N_OUTPUTS, max_positions=64).eval()
    whole = read(model, inputs=tokens())
    for name in parts_of(config):
        assert not torch.allclose(read(without(model, name), inputs=tokens()), whole), name


def test_a_part_that_the_model_lacks_is_named_with_those_it_has() -> None:
    config = tiny_config()
    assert parts_named(config, ["mask", "head.1.3", "mask"]) == (Part("mask"), Part("head", "self", 1, 3))
    sentence = (
        r"^without is skip\.2; it must be one of skip\.0 to skip\.1, .*, head\.0\.0 to head\.1\.3, mask, encoding\.$"
    )
    with pytest.raises(ValueError, match=sentence):
        parts_named(config, ["skip.0", "skip.2"])
    bare = tiny_config(skips=False, norm="none", mlp=False, pos_encoding="nope", mask_fault="missing")
    assert {part.kind for part in parts_of(bare).values()} == {"layer", "head"}


@pytest.mark.parametrize(
    "settings", [{}, {"family": "encoder_decoder"}, {"family": "gru"}, {"task": "shakespeare_chars", "plays": 1}]
)
def test_a_snapshot_without_a_layer_has_one_layer_less_and_reads_the_sequence_that_a_run_is_watched_on(
    settings: dict[str, Any],
) -> None:
    config = parse({"seq_len": 6, "n_layers": 3, "device": "cpu", **settings})
    whole = user_sequence_read(ModelRequest(config), "")
    less = user_sequence_read(ModelRequest(config), "", parts_named(config, ["layer.1"]))
    assert less.samples[0].tokens == whole.samples[0].tokens
    assert [len(one.residual["norm"]) for one in (whole, less)] == [4, 3]
    np.testing.assert_allclose(less.residual["norm"][:2], whole.residual["norm"][:2], rtol=1e-5)
    if config.architecture.attends:
        assert [len(one.patterns["self"]) for one in (whole, less)] == [3, 2]
    nothing = user_sequence_read(ModelRequest(config), "", parts_named(config, ["layer.0", "layer.1", "layer.2"]))
    assert nothing.samples[0].tokens == whole.samples[0].tokens
