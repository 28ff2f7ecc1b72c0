from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import torch
from safetensors.torch import load_model
from torch import Tensor, nn

from engine.analysis.attention.ablation import ablated, stack_of
from engine.analysis.attention.jobs import SequenceRead
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import (
    ModelRequest,
    SampleRequest,
    attentions_of,
    lengths_in_words,
    shortest_known,
    tap_name,
)
from engine.analysis.measurements.depth import untrained
from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.estimate.layout import shapes
from engine.foundation.formatting import counted
from engine.model.activations import ActivationCache, OnlyThese
from engine.model.attention import Attention
from engine.model.baselines import Baseline
from engine.model.block import NOWHERE
from engine.model.build import build_model, in_single
from engine.model.transformer import Transformer
from engine.runs.events import Event, Failed, Measuring, Progress, Snapshot
from engine.settings.errors import quoted
from engine.tasks import TASKS
from engine.tasks.text import TextSettings
from engine.tasks.text.encoded import read_text
from engine.training.data import Batch, Data
from engine.training.evaluation import accuracies, forward, loss_of
from engine.training.snapshot import take_snapshot, token_names
from engine.training.train import train

MAX_MODELS_IN_MEMORY = 6
MAX_LISTED_TOKENS = 16  # tokens that a refusal lists


@lru_cache(maxsize=MAX_MODELS_IN_MEMORY)
def model_of(request: ModelRequest) -> Transformer:
    """The model in evaluation mode, on the CPU in single precision. Raises ValueError with one sentence."""
    if request.changes:
        return rebuild(model_of(replace(request, changes=())), request.config.replace(**dict(request.changes)))
    model = untrained(request.config)
    if request.weights:
        load_model(model, request.weights)
    return in_single(model)


def rebuild(model: Transformer, config: RunConfig) -> Transformer:
    """A model of another config with the weights of this one; parameters without a counterpart keep their first values."""
    changed = untrained(config)
    changed.load_state_dict(model.state_dict(), strict=False)
    return in_single(changed)


@lru_cache(maxsize=4)
def data_of(config: RunConfig) -> Data:
    return Data(config)


@lru_cache(maxsize=8)
def held_out(config: RunConfig) -> Batch:
    # the probe's sequences come first
    return data_of(config).validation_batch()


def held_out_metrics(config: RunConfig, model: Transformer, *, written_out: bool = False) -> dict[str, float]:
    """Loss in nats and accuracies on the validation sequences. ``written_out``: use unfused attention also if a fused kernel is
    possible, since a hook on the softmax needs it."""
    batch = held_out(config)
    with torch.no_grad():
        logits = forward(model, batch, {} if written_out else None).float()
    return {"loss": loss_of(logits, batch.targets).item(), **accuracies(logits.argmax(-1), batch)}


def sample_of(config: RunConfig, request: SampleRequest) -> Batch:
    """One sequence in the architecture's layout. Raises ValueError with one sentence."""
    if request.text.strip():
        return user_sequence(config, request.text)
    batch = held_out(config)
    if request.number >= len(batch.inputs):
        raise ValueError(f"sample is {request.number}; it must be a whole number from 0 to {len(batch.inputs) - 1}.")
    return batch.rows(slice(request.number, request.number + 1))


def sequence(config: RunConfig, request: SampleRequest) -> SequenceRead:
    settings, given = config.task_settings, request.text.strip()
    batch = sample_of(config, request)
    corpus = TASKS[config.task].corpus
    shorter = given and not corpus and len(numbers_of(config, given)) < shortest_known(config)
    return {
        "tokens": {which: tokens_at(config, batch, which) for which in attentions_of(config)},
        "unknown": read_text(settings.encoded(), given).unknown if given and isinstance(settings, TextSettings) else [],
        "new_length": lengths_in_words(config) if shorter else "",
    }


def user_sequence(config: RunConfig, text: str) -> Batch:
    """The user's tokens with the task's answer; of a text task, any text. Raises ValueError with one sentence."""
    data, spec, settings = data_of(config), TASKS[config.task], config.task_settings
    symbols = (
        read_text(settings.encoded(), text).tokens if isinstance(settings, TextSettings) else numbers_of(config, text)
    )
    shortest, longest = spec.shortest + bool(spec.corpus), config.seq_len + bool(spec.corpus)
    if not shortest <= len(symbols) <= longest:
        given, trained = len(symbols), lengths_in_words(config)
        raise ValueError(f"You gave {counted(given, 'token')}; the model reads {shortest} to {longest}. {trained}")
    line = torch.tensor([symbols])
    if spec.corpus:  # the answer to a text is the text itself, shifted by one token
        return data.frame(line[:, :-1], line[:, 1:])
    try:
        answer = data.task.answer(line, settings)
    except (RuntimeError, IndexError, ValueError) as error:
        raise ValueError(f"Your tokens are no question of the task {spec.label}; an example: {spec.sample}.") from error
    return data.frame(line, answer)


def numbers_of(config: RunConfig, text: str) -> list[int]:
    """The token numbers of a text. Raises ValueError that names the first unknown token."""
    settings, names = config.task_settings, text.replace(",", " ").split()
    known = token_names(config, list(range(settings.n_symbols + len(settings.named_tokens))))
    number = {name: symbol for symbol, name in reversed(list(enumerate(known)))}
    for name in names:
        if name not in number:
            raise ValueError(
                f"Your token {quoted(name)} is not known; the tokens are {in_short(known)}, with spaces between them."
            )
    return [number[name] for name in names]


def in_short(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return ", ".join(
        distinct if len(distinct) <= MAX_LISTED_TOKENS else [*distinct[: MAX_LISTED_TOKENS - 2], "…", distinct[-1]]
    )


@torch.no_grad()
def run_with_cache(model: nn.Module, batch: Batch, *names: str) -> tuple[Tensor, ActivationCache]:
    """The logits [batch, length, class], and the inner tensors of these names, or all of them if none is named."""
    cache = OnlyThese(names) if names else ActivationCache()
    return forward(model, batch, cache), cache


def pattern_at(model: Transformer, batch: Batch, part: Part) -> Tensor:
    """The head's pattern of the first sequence, [query, key]."""
    name = tap_name(model.config, part.which, part.layer)
    return run_with_cache(model, batch)[1][f"{name}.pattern"][0, part.head]


def attention_at(model: Transformer, part: Part) -> Attention:
    block = (blocks := stack_of(model, part.which).blocks)[part.layer % len(blocks)]
    return block.cross if part.which == "cross" else block.attention  # type: ignore[return-value]


def encoding_at(model: Transformer, part: Part) -> PositionalEncoding:
    if part.which == "cross":
        return NOWHERE
    return stack_of(model, part.which).encoding_at(part.layer)


def positions_at(batch: Batch, part: Part) -> Positions:
    tokens = batch.source if part.which == "encoder" and batch.source is not None else batch.inputs
    given = batch.source_positions if part.which == "encoder" else batch.positions
    return given or range(tokens.size(1))


def tokens_at(config: RunConfig, batch: Batch, which: str) -> tuple[list[str], list[str]]:
    tokens = token_names(config, batch.inputs[0].tolist())
    source = tokens if batch.source is None else token_names(config, batch.source[0].tolist())
    return (source if which == "encoder" else tokens), (tokens if which == "self" else source)


def blocked_in(scores: Tensor) -> Tensor:
    """True for the pairs that a mask has blocked, read from the scores, of the same shape."""
    return scores <= torch.finfo(scores.dtype).min / 4


def before_training(config: RunConfig) -> list[Event]:
    """The events of the config's run up to its first step, with the same numbers as a run on the CPU."""
    events: list[Event] = []
    for event in train(config.replace(device="cpu")):
        if isinstance(event, Failed):
            break
        if not isinstance(event, Measuring):
            events.append(event)
        if isinstance(event, Progress):
            break
    return events


def user_sequence_read(request: ModelRequest, text: str, ablated_parts: tuple[Part, ...] = ()) -> Snapshot:
    """A snapshot of one sequence, read by the model without these parts: the user's text, or the first held-out sequence if it is
    empty. Raises ValueError with one sentence if the text is no question of the task."""
    config = request.config.replace(device="cpu")
    model = model_of(request) if config.architecture.attends else baseline_of(request)
    batch = sample_of(config, SampleRequest(text=text))
    return take_snapshot(config, ablated(model, ablated_parts) if ablated_parts else model, batch, request.at_step)


@lru_cache(maxsize=MAX_MODELS_IN_MEMORY)
def baseline_of(request: ModelRequest) -> Transformer | Baseline:
    model = build_model(request.config, **shapes(request.config).of_model)
    if request.weights:
        load_model(model, request.weights)
    return in_single(model)
