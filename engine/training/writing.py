"""Writing token by token: answers, each token predicted after those that the model itself wrote, and text after a prompt.

Text is sampled with temperature, top-k, and a window that slides when the text gets longer than it. Sources: temperature as in
Ackley, Hinton and Sejnowski 1985; top-k as in Fan, Lewis and Dauphin 2018, Hierarchical Neural Story Generation, section 5.4.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import Positions
from engine.estimate.layout import keeps_past, shapes
from engine.model.activations import in_mode
from engine.model.baselines import Baseline, Recurrent, RecurrentState
from engine.model.key_value_cache import KeyValueCache, cached_logits
from engine.model.transformer import Transformer
from engine.runs.events import Measuring
from engine.tasks.base.data import IGNORE
from engine.tasks.text.tokens import UNKNOWN, is_word, joined
from engine.training.data import Batch, spread, text_settings_of
from engine.training.evaluation import forward

# All tokens so far [batch, length] -> logits of the next token [batch, n_outputs]. Each call must repeat the tokens of the call
# before and add to them: the first call takes any number of tokens, each later call one more.
Read = Callable[[Tensor], Tensor]


def generation_accuracy(
    config: RunConfig, model: nn.Module, batch: Batch, first: int
) -> Generator[Measuring, None, float]:
    """The share of right answers from position ``first`` on when the model reads its own answers instead of the right ones.

    A leaking mask cannot raise this number: while the model writes there are no later tokens to read.
    """
    inputs, written, length = batch.inputs.clone(), torch.zeros_like(batch.targets), batch.inputs.size(1)
    read = reader(config, model, batch)
    for position in range(first, length):
        with torch.no_grad(), in_mode(model, training=False):
            written[:, position] = read(inputs[:, : position + 1]).argmax(-1)
        if position + 1 < length:
            inputs[:, position + 1] = written[:, position]
        yield Measuring(config.steps)
    return (written[:, first:] == batch.targets[:, first:]).float().mean().item()


def unseen_scores(config: RunConfig, model: nn.Module, batch: Batch) -> Generator[Measuring, None, tuple[float, float]]:
    """The accuracy and the mean loss, in nats, if the model reads nothing after the position whose next token it must predict."""
    read, length = reader(config, model, batch), batch.inputs.size(1)
    right = loss = answered = 0.0
    for position in range(length):
        with torch.no_grad(), in_mode(model, training=False):
            logits = read(batch.inputs[:, : position + 1]).float()
        targets = batch.targets[:, position]
        right += (logits.argmax(-1) == targets).sum().item()
        loss += F.cross_entropy(logits, targets, ignore_index=IGNORE, reduction="sum").item()
        answered += (targets != IGNORE).sum().item()
        yield Measuring(config.steps)
    return right / answered, loss / answered


def reader(config: RunConfig, model: nn.Module, batch: Batch) -> Read:
    if keeps_past(config) and isinstance(model, Transformer):
        return _with_keys_and_values(model, batch)
    if keeps_past(config) and isinstance(model, Baseline) and isinstance(model.body, Recurrent):
        return _with_states(model)
    return _from_the_start(config, model, batch)


def _with_keys_and_values(model: Transformer, batch: Batch) -> Read:
    cache = KeyValueCache()

    def read(tokens: Tensor) -> Tensor:
        if model.source_stack is not None and cache.memory is None and batch.source is not None:
            source_at = batch.source_positions or range(batch.source.size(1))
            cache.memory = model.encode(batch.source, source_at)
        return cached_logits(model, tokens[:, cache.length :], cache, _positions(batch, tokens.size(1)))[:, -1]

    return read


def _with_states(model: Baseline) -> Read:
    states: list[RecurrentState] = []
    known = 0

    def read(tokens: Tensor) -> Tensor:
        nonlocal states, known
        logits, states = model.resume(tokens[:, known:], states)
        known = tokens.size(1)
        return logits

    return read


def _from_the_start(config: RunConfig, model: nn.Module, batch: Batch) -> Read:
    sees = config.architecture.sees(config)

    def read(tokens: Tensor) -> Tensor:
        tokens = tokens if sees is None else tokens[:, -sees:]
        prefix = replace(batch, inputs=tokens, positions=_positions(batch, tokens.size(1)))
        return forward(model, prefix)[:, -1]

    return read


def _positions(batch: Batch, length: int) -> Positions | None:
    return None if batch.positions is None else batch.positions[:length]


def distribution(logits: Tensor, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
    """Probabilities of the next token, [token]: softmax(logits / temperature) over the ``top_k`` likeliest tokens.

    Temperature 0 and top-k 1 are greedy: the likeliest token (the first of equals) has probability 1.
    """
    if temperature == 0 or top_k == 1:
        return torch.zeros_like(logits).index_fill_(0, logits.argmax(), 1.0)
    if top_k is not None and top_k < len(logits):
        likeliest = logits.topk(top_k).indices
        logits = torch.full_like(logits, -torch.inf).index_copy_(0, likeliest, logits[likeliest])
    # The largest logit is subtracted first: divided by a small temperature it would overflow.
    return ((logits - logits.max()) / temperature).softmax(0)


@torch.no_grad()
def next_logits(config: RunConfig, model: nn.Module, tokens: Sequence[int]) -> Tensor:
    """The logits of the token after these, [token]; the model reads the last ``seq_len`` of them."""
    device = next(model.parameters()).device
    window = torch.tensor([list(tokens[-config.seq_len :])], device=device)  # [1, length]
    apart = config.randomized_positions > 1
    positions = spread(window.size(1), shapes(config).position_range) if apart else None
    logits: Tensor = model(window, positions=positions)[0, -1].float().cpu()
    # the unknown token is no word, nor are the numbers above a small text's vocabulary
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
    """Write ``length`` tokens after the prompt, which has at least one token. The same seed gives the same tokens."""
    generator = torch.Generator().manual_seed(seed)
    tokens = list(prompt)
    with in_mode(model, training=False):
        for _ in range(length):
            # no result is kept: when the window slides, every token has another position
            chances = distribution(next_logits(config, model, tokens), temperature, top_k)
            tokens.append(int(torch.multinomial(chances, 1, generator=generator)))
    return tokens[len(prompt) :]


def continuation(config: RunConfig, prompt: str, written: Sequence[int]) -> str:
    text = text_settings_of(config).encoded()
    spelled = text.vocabulary.spelled(written)
    # the space between the prompt and a first word
    gap = text.unit == "words" and bool(spelled) and is_word(spelled[0]) and is_word(prompt[-1:])
    return (" " if gap else "") + joined(spelled, text.unit)
