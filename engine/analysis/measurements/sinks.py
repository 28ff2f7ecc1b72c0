import torch

from engine.analysis.attention.model import blocked_in, run_with_cache
from engine.model.activations import in_mode
from engine.tasks.base.data import IGNORE
from engine.training.result import Trained

SEQUENCES = 64  # held-out


@torch.no_grad()
def attention_sinks(trained: Trained) -> dict[str, float]:
    """``first_token_weight``: the attention weight on the first token, the mean over layers, heads and the positions with nothing
    to say, without the first position, which reads nothing else; ``even_first_weight``: the same if all visible tokens had equal
    weights; ``nowhere_weight``: the weight on no token at all, above 0 only with softmax plus one. At positions with something to
    say: ``first_token_weight_asked``, and ``right_when_asked``, the share of right answers.

    The weight on the first token is the sink of Xiao et al. 2023, Efficient Streaming Language Models with Attention Sinks. Raises
    ValueError for a task in which no answer is "nothing", and for a model without attention.
    """
    nothing, config = trained.config.task_settings.nothing, trained.config
    if nothing is None or not config.architecture.attends:
        raise ValueError(
            f"task is {config.task}, family {config.family}; the task must be trigger, and the family must have attention."
        )
    batch = trained.data.validation_batch(size=SEQUENCES).to(trained.device)
    with in_mode(trained.model, training=False):
        logits, cache = run_with_cache(trained.model, batch)
    names = [name.removesuffix(".pattern") for name in cache if name.endswith(".self.pattern")]
    patterns = torch.stack([cache[f"{name}.pattern"].float() for name in names])  # [layer, batch, head, query, key]
    visible = (~blocked_in(cache[f"{names[0]}.scores"])).float()  # [batch, head, query, key]
    silent, answered = batch.targets == nothing, (batch.targets != nothing) & (batch.targets != IGNORE)
    silent[:, 0] = False

    def mean_where(weights: torch.Tensor, which: torch.Tensor) -> float:
        """``weights`` [..., batch, head, query]; ``which`` [batch, query]."""
        return weights.movedim(-2, 0)[..., which].mean().item()

    return {
        "first_token_weight": mean_where(patterns[..., 0], silent),
        "even_first_weight": mean_where(visible[..., 0] / visible.sum(-1), silent),
        "nowhere_weight": mean_where(1 - patterns.sum(-1), silent),
        "first_token_weight_asked": mean_where(patterns[..., 0], answered),
        "right_when_asked": (logits.argmax(-1) == batch.targets)[answered].float().mean().item(),
    }
