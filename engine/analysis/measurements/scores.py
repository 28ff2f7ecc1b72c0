import torch
from torch import Tensor

from engine.analysis.attention.heads import entropy, shares_read
from engine.analysis.attention.model import blocked_in, run_with_cache
from engine.model.activations import in_mode
from engine.training.result import Trained

SCORED = 64  # held-out sequences


def attention_scores(trained: Trained) -> dict[str, float]:
    """``largest_score``: the largest absolute attention score before softmax, of all layers and heads, as the median over
    sequences. ``attention_entropy``: the entropy of a query's weights as a share of that of equal weights, 0 to 1; the mean over
    layers, heads, sequences and queries that see at least two keys. ``largest_score.0``, ``attention_entropy.0`` and so on: those
    of each layer.

    The scores of a training at a high learning rate grow, and the entropy falls to 0 when each query reads one key alone (Dehghani
    et al. 2023, Scaling Vision Transformers to 22 Billion Parameters, section 2; Zhai et al. 2023, Stabilizing Transformer Training
    by Preventing Attention Entropy Collapse, section 3).
    """
    batch = trained.data.validation_batch(size=SCORED).to(trained.device)
    with in_mode(trained.model, training=False):
        _, cache = run_with_cache(trained.model, batch)
    modules = [name.removesuffix(".scores") for name in cache if name.endswith(".self.scores")]
    largest = [largest_of(cache[f"{name}.scores"]) for name in modules]  # [batch] each
    spread = [
        spread_of(cache[f"{name}.scores"], shares_read(cache[f"{name}.pattern"], trained.config)) for name in modules
    ]
    return {
        "largest_score": torch.stack(largest).amax(dim=0).median().item(),
        "attention_entropy": sum(spread) / len(spread),
        **{f"largest_score.{layer}": scores.median().item() for layer, scores in enumerate(largest)},
        **{f"attention_entropy.{layer}": share for layer, share in enumerate(spread)},
    }


def largest_of(scores: Tensor) -> Tensor:
    """The largest absolute score of each sequence among the pairs that no mask blocks; [batch, head, query, key] -> [batch]."""
    return scores.float().masked_fill(blocked_in(scores), 0.0).abs().flatten(1).amax(dim=1)


def spread_of(scores: Tensor, pattern: Tensor) -> float:
    """The mean entropy of the weights as a share of the entropy of equal weights on all visible keys; [batch, head, query, key] each."""
    visible = (~blocked_in(scores)).sum(dim=-1)  # [batch, head, query]
    able = visible > 1
    return (entropy(pattern.double())[able] / visible[able].double().log()).mean().item()
