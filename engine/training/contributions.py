"""The direct contributions of a model's parts to the logit of the right symbol: of the embedding, of each head, of each MLP.

The output of each part is a summand of the residual stream, and the last stream is read through the norms that follow the part. A
norm divides by the deviation of the whole stream. With the deviation of the actual stream it is a linear function of the summands,
and the contributions add up to the logit. They leave out how a part changes what later parts read, and those deviations. Sources:
nostalgebraist 2020, interpreting GPT: the logit lens; Elhage et al. 2021, A Mathematical Framework for Transformer Circuits, "The
residual stream as a communication channel"; Wang et al. 2022, Interpretability in the Wild, section 3.1.

The mean over all classes is subtracted: a term that raises all logits equally counts for nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.model.activations import ActivationCache
from engine.model.attention import Attention
from engine.model.block import Block, Mlp, Residual
from engine.model.transformer import Stack, Transformer
from engine.tasks.base.data import IGNORE


@dataclass(frozen=True)
class Branch:
    kind: str  # "self", "cross" or "mlp"
    layer: int
    module: Attention | Mlp
    residual: Residual
    outputs: Tensor
    """The outputs that are split among parts: of the heads before the projection, [head, position, d_head], or of the MLP,
    [position, d_model]."""
    joined: Tensor  # the stream after the branch, before the norm of post-LN, [position, d_model]


def contributions_in(cache: ActivationCache, model: nn.Module, targets: Tensor) -> dict[str, Tensor]:
    """The contributions for the first sample (:attr:`engine.runs.events.Snapshot.contributions`), without waiting for a device.

    ``cache``: the stream and the outputs of heads and MLPs, of a pass in evaluation mode. ``targets`` [position]. Empty for a model
    without attention, which has no heads.
    """
    if not isinstance(model, Transformer):
        return {}
    stack, right = model.stack, targets.clamp_min(0)
    weight, bias = model.head.weight.float(), model.head.bias.float()
    along = weight[right] - weight.mean(dim=0)  # [position, d_model]: the logit grows where the stream grows along it
    constant = bias[right] - bias.mean()  # [position]: the contribution of all biases
    first, branches = cache[stack.embedding_name][0], list(branches_in(cache, stack))
    # Before the last norm, which post-LN has not; every layer can be taken away.
    along, constant = before_norm(stack.norm, branches[-1].joined if branches else first, along, constant)
    parts: dict[tuple[str, int], Tensor] = {}
    for branch in reversed(branches):
        if branch.residual.norm_position == "post":
            along, constant = before_norm(branch.residual.norm, branch.joined, along, constant)
        here, outputs = along * branch.residual.scale, branch.outputs.float()
        if isinstance(branch.module, Attention):
            out = branch.module.out  # [position, head * d_head] -> [head, position, d_head]
            by_head = (here @ out.weight.float()).view(len(here), len(outputs), -1).transpose(0, 1)
            parts[branch.kind, branch.layer] = (by_head * outputs).sum(dim=-1)
            constant = constant + here @ out.bias.float()
        else:
            parts[branch.kind, branch.layer] = (here * outputs).sum(dim=-1)
        if not branch.residual.skip:  # what stood in the stream before is no summand of it any more
            along = torch.zeros_like(along)
    by_kind = {"embedding": (along * first.float()).sum(dim=-1), "bias": constant}
    for kind in dict.fromkeys(kind for kind, _ in parts):
        nothing = torch.zeros_like(next(part for (known, _), part in parts.items() if known == kind))
        by_kind[kind] = torch.stack([parts.get((kind, layer), nothing) for layer in range(stack.depth)])
    return {kind: values.masked_fill(targets == IGNORE, float("nan")) for kind, values in by_kind.items()}


def branches_in(cache: ActivationCache, stack: Stack) -> Iterator[Branch]:
    stream = cache[stack.embedding_name][0]
    for layer in range(stack.depth):
        block: Block = stack.blocks[layer % len(stack.blocks)]  # type: ignore[assignment]
        modules = {
            "self": (block.attention, block.attention_residual),
            "cross": (block.cross, block.cross_residual),
            "mlp": (block.mlp, block.mlp_residual),
        }
        for kind, (module, residual) in modules.items():
            # an ablated MLP is no branch
            if module is not None and residual is not None:
                name = f"{stack.name}.{layer}.{kind}"
                out = cache[f"{name}.out"][0]
                outputs = cache[f"{name}.mixed"][0] if isinstance(module, Attention) else out
                yield Branch(kind, layer, module, residual, outputs, residual.joined(stream, out))
                stream = residual.after(stream, out)


def before_norm(norm: nn.Module, read: Tensor, along: Tensor, constant: Tensor) -> tuple[Tensor, Tensor]:
    """The direction ``along`` [position, d_model] as seen before a norm that reads ``read`` [position, d_model], and the constant
    [position] with the contribution of the norm's bias. Without a norm, both unchanged."""
    if isinstance(norm, nn.RMSNorm):
        size = (read.float().square().mean(dim=-1, keepdim=True) + (norm.eps or 0.0)).sqrt()
        return along * norm.weight.float() / size, constant
    if not isinstance(norm, nn.LayerNorm):
        return along, constant
    scaled = along * norm.weight.float()
    deviation = (read.float().var(dim=-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    return (scaled - scaled.mean(dim=-1, keepdim=True)) / deviation, constant + along @ norm.bias.float()
