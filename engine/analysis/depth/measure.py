"""Measurements of a stack by its depth, all depths from one pass of the deepest model.

Blocks are drawn in the same way at every depth, so the first d blocks of a deep stack are one draw of a stack of d blocks. Its
output goes through the final norm of pre-LN, which before training is the same at every depth; roll-out and the share in which tokens
differ are measured before that norm. In a trained model, an output after fewer than all layers is the input of the logit lens.

A causal model reads the first n tokens of a sequence as it would read these alone: one pass gives every length, too.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from copy import deepcopy
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils import get_total_norm

from engine.analysis.attention.model import held_out, model_of, run_with_cache
from engine.analysis.attention.requests import MAX_ATTENTION_WEIGHTS, ModelRequest, weights_of_one_sequence
from engine.analysis.depth.jobs import LENGTHS, DepthNumbers, OversquashingNumbers, from_json, to_json
from engine.analysis.measurements.depth import TINY, block_outputs, relative_residual, untrained
from engine.analysis.measurements.pointing import flow_through, self_patterns
from engine.config.run_config import RunConfig
from engine.estimate.layout import keeps_past, shapes
from engine.foundation.code_hash import code_hash
from engine.foundation.files import adding, data_folder
from engine.foundation.log import log_unsaved
from engine.foundation.stored_json import hash_of, read_table
from engine.model.activations import in_mode
from engine.model.block import Residual
from engine.model.transformer import Transformer
from engine.tasks.base.data import task_data
from engine.training.data import Batch
from engine.training.evaluation import loss_of

# Held-out sequences of a run. A draw reads one: draws differ more than sequences do.
SEQUENCES = 8
MAX_STORED = 2000  # results on disk, the newest; one takes about 20 KB
NormPosition: TypeAlias = Literal["pre", "post", "none"]
COMPARED_NORMS: tuple[NormPosition, ...] = ("pre", "post")


def of_first_weights(config: RunConfig, depths: tuple[int, ...]) -> DepthNumbers:
    key = hash_of([code_hash(), config.flat(), depths], 32)
    stored = data_folder() / "depth" / f"{key}.json"
    # none is stored yet, or it is damaged
    with suppress(KeyError, TypeError, ValueError):
        return from_json(read_table(stored))
    numbers = draw(config, depths)
    try:
        with adding(stored, MAX_STORED) as file:
            file.write_text(json.dumps(to_json(numbers)))
    except OSError as error:
        log_unsaved("Numbers by depth %s cannot be saved", key, error)
    return numbers


def draw(config: RunConfig, depths: tuple[int, ...]) -> DepthNumbers:
    config = config.replace(n_layers=max(depths), family="decoder")
    generator = torch.Generator().manual_seed(config.seed)
    tokens = torch.randint(config.task_settings.n_symbols, (1, config.seq_len), generator=generator)
    batch = Batch(tokens, task_data(config.task).answer(tokens, config.task_settings), {})
    # Initial weights are the same wherever the norms are: one model is drawn for all of them.
    model = untrained(config.replace(norm="pre"))
    final, gradient = model.stack.norm, dict[str, np.ndarray]()
    for norm in dict.fromkeys((*COMPARED_NORMS, config.norm)):
        place_norms(model, norm, final)
        gradient[norm] = first_gradients(model, batch, depths)
    place_norms(model, config.norm, final)
    both_ways = untrained(config.replace(family="encoder"))
    return depth_numbers(model, both_ways, gradient, batch, depths, lengths_up_to(config.seq_len))


def oversquashing_of_first_weights(config: RunConfig, depths: tuple[int, ...]) -> OversquashingNumbers:
    model = untrained(config.replace(n_layers=max(depths), family="decoder", seq_len=max(LENGTHS)))
    return oversquashing(model, depths, LENGTHS)


def place_norms(model: Transformer, norm: NormPosition, final: nn.LayerNorm | nn.RMSNorm | nn.Identity) -> None:
    """Change a model that was drawn with pre-LN. ``final``: the norm after its last block, which pre-LN alone has."""
    for part in model.modules():
        if isinstance(part, Residual):
            part.norm_position = norm
    model.stack.norm = final if norm == "pre" else nn.Identity()


def of_run(request: ModelRequest) -> DepthNumbers:
    """Raises ValueError with one sentence."""
    return of_model(model_of(request), held_out(request.config))


def of_model(model: Transformer, held_out: Batch) -> DepthNumbers:
    """Measure a model on the first held-out sequences. Raises ValueError with one sentence."""
    config = model.config
    if config.family == "encoder_decoder":
        raise ValueError(f"family is {config.family}; it must be decoder or encoder, which have a single stack.")
    room = MAX_ATTENTION_WEIGHTS // weights_of_one_sequence(config)
    batch = held_out.rows(slice(max(1, min(SEQUENCES, room))))
    # Coupled positions say which symbols of the task go together: other tokens, such as 0 1 1 ... 1, have none.
    alone = keeps_past(config) and config.task_settings.partners(config.seq_len) is None
    lengths = lengths_up_to(shapes(config).length) if alone else ()
    depths = tuple(range(1, config.n_layers + 1))
    return depth_numbers(model, model, {config.norm: first_gradients(model, batch, depths)}, batch, depths, lengths)


def lengths_up_to(longest: int) -> tuple[int, ...]:
    return (*(n for n in LENGTHS if n < longest), longest)


def depth_numbers(
    model: Transformer, both_ways: Transformer, gradient: dict[str, np.ndarray], batch: Batch, depths: tuple[int, ...],
    lengths: tuple[int, ...],
) -> DepthNumbers:  # fmt: skip
    """``gradient`` by norm; ``both_ways``: the model of which the share in which tokens differ is measured."""
    flow, weight = roll_out(model, batch, depths)
    return {
        **oversquashing(model, depths, lengths),
        "depths": np.array(depths),
        "roll_out": flow,
        "layer_weight": weight,
        "token_share": token_shares(both_ways, batch, depths),
        "gradient": gradient,
    }


@torch.no_grad()
def roll_out(model: Transformer, batch: Batch, depths: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """For the last position and each depth: the roll-out weight of every position, and the weight that the top layer alone gives
    it, [depth, position] each; means over heads and sequences."""
    names = [f"{model.stack.name}.{layer}.self.pattern" for layer in range(model.config.n_layers)]
    cache = run_with_cache(model, batch, *names)[1]
    patterns = torch.stack([pattern.mean(dim=1) for pattern in self_patterns(cache)])
    flow = flow_through(patterns, skips=model.config.skips)
    at = torch.tensor(depths) - 1
    return _array(flow[at, :, -1].mean(dim=1)), _array(patterns[at, :, -1].mean(dim=1))


@torch.no_grad()
def token_shares(model: Transformer, batch: Batch, depths: tuple[int, ...]) -> np.ndarray:
    """The share in which the tokens of a sequence differ after so many layers, [depth]."""
    blocks = block_outputs(model, batch, model.config)
    return np.array([relative_residual(blocks[depth - 1].double()) for depth in depths])


@torch.no_grad()
def oversquashing(model: Transformer, depths: tuple[int, ...], lengths: tuple[int, ...]) -> OversquashingNumbers:
    """The changes of the last token's output.

    Source: Barbero et al. 2024, Transformers need glasses! Information over-squashing in language tasks, sections 4 and 5.
    """
    if not lengths:
        nothing = np.empty((len(depths), 0))
        return {"lengths": np.array(lengths, int), "first_token": nothing, "repeat": nothing, "repeat_equal": nothing}
    known, last = model.config.task_settings.n_symbols, torch.tensor(lengths) - 1
    drawn = torch.randint(known, (max(lengths),), generator=torch.Generator().manual_seed(model.config.seed))
    exchanged, repeated = drawn.clone(), torch.ones_like(drawn)
    exchanged[0], repeated[0] = (drawn[0] + 1) % known, 0
    exact = outputs_after(model, torch.stack([drawn, exchanged, repeated]), depths)
    lowered = outputs_after(model, repeated[None], depths, torch.bfloat16)
    first = [relative_change(before[last], after[last]) for before, after, _ in exact]
    repeat = [relative_change(output[last - 1], output[last]) for _, _, output in exact]
    equal = [(output[0, last - 1] == output[0, last]).float().mean(dim=-1) for output in lowered]
    return {
        "lengths": np.array(lengths),
        "first_token": _array(torch.stack(first)),
        "repeat": _array(torch.stack(repeat)),
        "repeat_equal": _array(torch.stack(equal)),
    }


def outputs_after(
    model: Transformer, tokens: Tensor, depths: tuple[int, ...], dtype: torch.dtype = torch.float32
) -> list[Tensor]:
    """The input of the head after so many layers, [batch, length, d_model] each, with weights and passes in ``dtype``."""
    outputs: list[Tensor] = []
    weights = {name: value.to(dtype) if value.is_floating_point() else value for name, value in _named_tensors(model)}
    # Not by a cache, with which attention is written out: in bfloat16 the fused kernel gives other last bits, and runs use that one.
    with ExitStack() as hooks, in_mode(model, training=False):
        for block in model.stack.blocks:
            hooks.enter_context(block.register_forward_hook(lambda _block, _given, output: outputs.append(output)))
        functional_call(model, weights, (tokens,))  # a copy of the model would take as long as a pass
    norm = deepcopy(model.stack.norm).to(dtype)
    return [norm(outputs[depth - 1]) for depth in depths]


def _named_tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def relative_change(before: Tensor, after: Tensor) -> Tensor:
    """The length of the difference of two vectors as a share of the first one's, [..., d_model] -> [...]."""
    change: Tensor = (after - before).norm(dim=-1) / before.norm(dim=-1).clamp(min=TINY)
    return change


def first_gradients(model: Transformer, batch: Batch, depths: tuple[int, ...]) -> np.ndarray:
    """The L2 norm of the gradient of the loss in the first layer's weights at each depth, on the first sequence, [depth].

    Source: Xiong et al. 2020, On Layer Normalization in the Transformer Architecture, section 3.
    """
    needed = {parameter: parameter.requires_grad for parameter in model.parameters()}
    model.requires_grad_(False)
    weights = list(model.stack.blocks[0].requires_grad_(True).parameters())
    try:
        with torch.enable_grad():
            one = batch.rows(slice(1))  # half of the time of a draw is spent here
            blocks = block_outputs(model, one, model.config)
            norms = []
            for depth in depths:
                loss = loss_of(model.logits_of(blocks[depth - 1]).float(), one.targets)
                grads = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
                norms.append(get_total_norm([grad.double() for grad in grads if grad is not None]).item())
    finally:
        for parameter, before in needed.items():
            parameter.requires_grad_(before)
    return np.array(norms)


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.double().numpy()
