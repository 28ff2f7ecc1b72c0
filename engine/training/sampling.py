"""Sampling text after a prompt: temperature, top-k, and a window that slides when the text gets longer than it.

Sources: temperature as in Ackley, Hinton and Sejnowski 1985; top-k as in Fan, Lewis and Dauphin 2018, Hierarchical Neural
Story Generation, section 5.4.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.model.activations import in_mode
from engine.text.tokens import UNKNOWN, is_word, joined
from engine.training.data import text_settings_of
from engine.training.positions import spread


def distribution(logits: Tensor, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
    """Probabilities of the next token, [token]: softmax(logits / temperature) over the ``top_k`` likeliest tokens.

    Temperature 0 and top-k 1 are greedy: the likeliest token (the first of equals) has probability 1.
    """
    if temperature == 0 or top_k == 1:
        return torch.zeros_like(logits).index_fill_(0, logits.argmax(), 1.0)
    if top_k is not None and top_k < len(logits):
        kept = logits.topk(top_k).indices
        logits = torch.full_like(logits, -torch.inf).index_copy_(0, kept, logits[kept])
    # The largest logit is subtracted first: divided by a small temperature it would overflow.
    return ((logits - logits.max()) / temperature).softmax(0)


@torch.no_grad()
def next_logits(config: RunConfig, model: nn.Module, tokens: Sequence[int]) -> Tensor:
    """The logits of the token after these, [token]; the model reads the last ``seq_len`` of them.

    The unknown token is never written, since it stands for many words. Token numbers without a word are never written
    either; they exist where the text has fewer words than the vocabulary has room for.
    """
    device = next(model.parameters()).device
    window = torch.tensor([list(tokens[-config.seq_len :])], device=device)  # [1, length]
    apart = config.randomized_positions > 1
    positions = spread(window.size(1), shapes(config).position_range) if apart else None
    logits: Tensor = model(window, positions=positions)[0, -1].float().cpu()
    logits[UNKNOWN] = -torch.inf
    logits[len(text_settings_of(config).encoded().vocabulary.numbers) + 1 :] = -torch.inf
    return logits


def write_on(
    config: RunConfig,
    model: nn.Module,
    prompt: Sequence[int],
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int = 0,
) -> list[int]:
    """Write ``length`` tokens after the prompt, which has at least one token. The same seed gives the same tokens.

    When the window slides, every token moves to another position, so no earlier result can be kept.
    """
    generator = torch.Generator().manual_seed(seed)
    tokens = list(prompt)
    with in_mode(model, training=False):
        for _ in range(length):
            chances = distribution(next_logits(config, model, tokens), temperature, top_k)
            tokens.append(int(torch.multinomial(chances, 1, generator=generator)))
    return tokens[len(prompt) :]


def continuation(config: RunConfig, prompt: str, written: Sequence[int]) -> str:
    """The written tokens as text, with the space that stands between the prompt and a first word."""
    text = text_settings_of(config).encoded()
    spelled = text.vocabulary.spelled(written)
    gap = text.unit == "words" and bool(spelled) and is_word(spelled[0]) and is_word(prompt[-1:])
    return (" " if gap else "") + joined(spelled, text.unit)
