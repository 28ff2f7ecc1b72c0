"""Snapshots: the model's inner tensors and predictions at one step, on a fixed probe batch, without gradient or dropout."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, matrices_of
from engine.estimate.layout import continues, shapes
from engine.estimate.recording import LARGEST_MORE, samples_with_patterns
from engine.model.activations import ActivationCache, in_mode
from engine.runs.events import Sample, Snapshot, of_layer
from engine.tasks.base.data import IGNORE, task_data
from engine.text.tokens import joined
from engine.training.data import Batch, text_settings_of
from engine.training.evaluation import forward
from engine.training.writing import continuation, write_on

LARGEST_PATTERNS = 1_000_000
"""The most attention weights in one snapshot; longer sequences are cut at the position that fits."""
LARGEST_MATRICES = 1_000_000
"""The most numbers in one snapshot's encoding matrices; above it the matrices of further layers are left out."""
PROMPT, WRITTEN = 6, 32
"""The number of held-out tokens that a language model reads, and the number of tokens that it then writes."""
TEMPERATURE = 0.8
LONGEST_MATRIX = 256
"""The most positions of the encoding that are shown; fewer with several layers, so that the total stays the same."""


class PatternCache(ActivationCache):
    """An activation cache that keeps the attention patterns alone, cut to ``side`` queries and keys: a snapshot of a long
    sequence never holds the scores and patterns of all layers at once."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self._side = side

    def __setitem__(self, name: str, value: Tensor) -> None:
        if name.endswith(".pattern"):
            cut = value.shape[-2] * value.shape[-1] > self._side**2
            super().__setitem__(name, value[..., : self._side, : self._side].clone() if cut else value)


@torch.no_grad()
def take_snapshot(config: RunConfig, model: nn.Module, probe: Batch, step: int) -> Snapshot:
    """A snapshot: patterns of the probe samples that fit, the encoding's matrices, and the predictions on all samples."""
    heads = config.n_layers * config.n_heads
    shown = min(len(probe.inputs), samples_with_patterns(config))
    cache = PatternCache(side=int((LARGEST_PATTERNS / heads) ** 0.5))
    with in_mode(model, training=False):
        passes = [forward(model, probe.rows(slice(shown)), cache)]
        if shown < len(probe.inputs):  # no patterns of these: fused attention then keeps no matrices
            passes.append(forward(model, probe.rows(slice(shown, None))))
    predictions = torch.cat(passes).argmax(-1)
    return Snapshot(
        step=step,
        patterns=patterns_in(cache),
        more_patterns=more_patterns_in(cache, shown),
        encoding=encoding_matrices(model, probe.inputs.size(1)) if config.architecture.attends else {},
        samples=samples_of(config, probe, predictions),
        **(written_sample(config, model, probe) if probe.text else {}),
    )


def encoding_matrices(model: nn.Module, length: int) -> dict[str, np.ndarray]:
    """The encoding's matrices by name, those of each layer where it has its own (:func:`engine.runs.events.of_layer`)."""
    encodings: list[PositionalEncoding] = list(model.stack.encodings)  # type: ignore[union-attr,arg-type]
    shown = min(length, int(LONGEST_MATRIX / len(encodings) ** 0.5))
    kept: dict[str, np.ndarray] = {}
    room = LARGEST_MATRICES
    for layer, encoding in enumerate(encodings):
        matrices, _ = matrices_of(encoding, shown)
        room -= sum(array.size for array in matrices.values())
        if layer and room < 0:
            break
        kept |= {of_layer(name, layer): array for name, array in matrices.items()}
    return kept


def written_sample(config: RunConfig, model: nn.Module, probe: Batch) -> dict[str, str]:
    """``prompt``, the first tokens of probe sample 0, and ``written``, the model's continuation. The seed is the config's."""
    first = probe.inputs[0, :PROMPT].tolist()
    written = write_on(config, model, first, WRITTEN, temperature=TEMPERATURE, seed=config.seed)
    text = text_settings_of(config).encoded()
    prompt = joined(text.vocabulary.spelled(first), text.unit)
    return {"prompt": prompt, "written": continuation(config, prompt, written)}


def patterns_in(cache: ActivationCache, sample: int = 0) -> dict[str, np.ndarray]:
    """The attention patterns of one sample by kind, each [layer, head, query, key]."""
    stacks: dict[str, list[Tensor]] = {}
    for name, value in cache.items():
        if name.endswith(".pattern"):
            stack, _, kind, _ = name.split(".")
            decoding = any(other.startswith("decoder.") for other in cache)
            stacks.setdefault("encoder" if stack == "encoder" and decoding else kind, []).append(value[sample])
    cut = {kind: torch.stack(layers).float() for kind, layers in stacks.items()}
    return {kind: array(_fitting(pattern)) for kind, pattern in cut.items()}


def more_patterns_in(cache: ActivationCache, samples: int) -> dict[str, np.ndarray]:
    """The attention patterns of the samples after the first by kind, each [sample, layer, head, query, key]: as many as fit."""
    size = sum(value[0].numel() for name, value in cache.items() if name.endswith(".pattern"))
    room = LARGEST_MORE // size if size else 0
    kept = [patterns_in(cache, sample) for sample in range(1, min(samples, 1 + room))]
    return {kind: np.stack([patterns[kind] for patterns in kept]) for kind in kept[0]} if kept else {}


def _fitting(pattern: Tensor) -> Tensor:
    layers, heads, queries, keys = pattern.shape
    side = int((LARGEST_PATTERNS / (layers * heads)) ** 0.5)
    return pattern[:, :, :side, :side] if queries * keys > side * side else pattern


def array(value: Tensor) -> np.ndarray:
    return value.detach().float().cpu().numpy().astype(np.float32)


def samples_of(config: RunConfig, probe: Batch, predictions: Tensor) -> list[Sample]:
    """The probe sequences with named tokens; of a decoder that continues its question, only the answer has targets."""
    shorter = (
        shapes(config).length - probe.inputs.size(1)
    ) // 2  # symbols fewer than usual in a sequence that somebody typed
    first = config.seq_len - 1 - shorter if continues(config) else 0
    answer = answer_namer(config)
    samples = []
    for row in range(len(probe.inputs)):
        targets, guesses = probe.targets[row].tolist(), predictions[row].tolist()
        asked = [position >= first and target != IGNORE for position, target in enumerate(targets)]
        samples.append(
            Sample(
                tokens=token_names(config, probe.inputs[row].tolist()),
                targets=[answer(t) if ask else "" for t, ask in zip(targets, asked, strict=True)],
                predictions=[answer(g) if ask else "" for g, ask in zip(guesses, asked, strict=True)],
                source=[] if probe.source is None else token_names(config, probe.source[row].tolist()),
            )
        )
    return samples


def token_names(config: RunConfig, tokens: list[int]) -> list[str]:
    """The names of tokens: symbols as their task names them, the tokens above them by their meaning."""
    own, corpus = config.task_settings, task_data(config.task).corpus
    if corpus is not None:
        names = corpus(own, config).names
        return [names[token] for token in tokens]
    special = dict(enumerate(own.named_tokens or ("⊢", "·"), start=own.n_symbols))
    return [special.get(token) or own.token_name(token) for token in tokens]


def answer_namer(config: RunConfig) -> Callable[[int], str]:
    """The function that names an answer of the task."""
    own, corpus = config.task_settings, task_data(config.task).corpus
    return own.answer_name if corpus is None else corpus(own, config).names.__getitem__
