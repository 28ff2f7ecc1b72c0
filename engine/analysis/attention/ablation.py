from collections.abc import Iterable
from copy import deepcopy
from typing import TypeVar

import torch
from torch import nn

from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import AttentionKind
from engine.encodings.nope import NopeSettings
from engine.encodings.nope.layer import NoEncoding
from engine.model.attention import Attention
from engine.model.baselines import Baseline
from engine.model.block import Block, Residual
from engine.model.transformer import Stack, Transformer

Model = TypeVar("Model", bound=Transformer | Baseline)


def ablated(model: Model, parts: Iterable[Part]) -> Model:
    """Copy the model without these parts. The model itself stays as it is."""
    ablated_parts = list(parts)
    blocks = {id(block): block for stack in _stacks(model) for block in stack.blocks}
    # copying all layers would take most of the time in which many heads are ablated, one by one: others are shared
    for part in ablated_parts:
        if part.kind in ("head", "mlp", "skip", "norm") and isinstance(model, Transformer):
            layers = stack_of(model, part.which).blocks
            blocks.pop(id(layers[part.layer % len(layers)]), None)
    changed = deepcopy(model, blocks)
    stacks = _stacks(changed)
    # layers that share weights are cut one by one
    for stack in stacks:
        if len(stack.blocks) < stack.depth:  # one block is used at every depth
            stack.blocks = nn.ModuleList(deepcopy(stack.blocks[0]) for _ in range(stack.depth))
    for part in ablated_parts:
        if part.kind == "mask":
            stacks[-1].mask_fault = "missing"  # that of the stack that answers; an encoder's is never applied
        elif part.kind == "encoding":
            _ablate_encodings(changed)
        elif part.kind != "layer":
            _ablate_in(_layers(changed, part.which)[part.layer], part)
    # The last first: the layers above an ablated one move down.
    for part in sorted((part for part in ablated_parts if part.kind == "layer"), key=lambda part: -part.layer):
        _ablate_layer(changed, part)
    return changed


def _ablate_in(layer: nn.Module, part: Part) -> None:
    residuals = [module for module in layer.modules() if isinstance(module, Residual)]
    if part.kind == "skip":
        for residual in residuals:
            residual.skip = False
    elif part.kind == "norm":
        for residual in residuals:
            residual.norm, residual.norm_scale = nn.Identity(), 1.0
    elif isinstance(layer, Block) and part.kind == "mlp":
        layer.mlp = layer.mlp_residual = None
    elif isinstance(layer, Block) and part.kind == "head":
        attention = layer.cross if part.which == "cross" else layer.attention
        assert attention is not None
        _ablate_head(attention, part.head)


@torch.no_grad()
def _ablate_head(attention: Attention, head: int) -> None:
    width = attention.out.in_features // attention.n_heads
    # times zero where the heads are joined
    attention.out.weight[:, head * width : (head + 1) * width] = 0.0


def _ablate_encodings(model: Transformer | Baseline) -> None:
    for stack in _stacks(model):
        nowhere = NoEncoding(model.config, NopeSettings(), max_positions=0, causal=stack.causal)
        stack.encodings = nn.ModuleList([nowhere])


def _ablate_layer(model: Transformer | Baseline, part: Part) -> None:
    layers = _layers(model, part.which)
    del layers[part.layer]
    if isinstance(model, Transformer):
        stack = stack_of(model, part.which)
        stack.depth -= 1
        if len(stack.encodings) > 1:  # each layer has its own
            del stack.encodings[part.layer]


def stack_of(model: Transformer, which: AttentionKind) -> Stack:
    stack = model.source_stack if which == "encoder" else model.stack
    assert stack is not None, "asked for the encoder of a model that has none"
    return stack


def _stacks(model: Transformer | Baseline) -> list[Stack]:
    return [module for module in model.children() if isinstance(module, Stack)]


def _layers(model: Transformer | Baseline, which: AttentionKind) -> nn.ModuleList:
    layers = stack_of(model, which).blocks if isinstance(model, Transformer) else model.body.layers
    assert isinstance(layers, nn.ModuleList)
    return layers
