"""Snapshots: the model's inner tensors and predictions at one step, on a fixed probe batch, without gradient or dropout."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, matrices_of
from engine.estimate.layout import continues, shapes
from engine.estimate.recording import LARGEST_MORE, samples_with_patterns
from engine.model.activations import ActivationCache, in_mode
from engine.runs.events import Sample, Snapshot, of_layer
from engine.tasks.base.data import IGNORE, task_data
from engine.tasks.text.tokens import joined
from engine.training.contributions import contributions_in
from engine.training.data import Batch, text_settings_of
from engine.training.evaluation import forward
from engine.training.writing import continuation, write_on

LARGEST_PATTERNS = 1_000_000  # attention weights in one snapshot; longer sequences are cut at the position that fits
# numbers in one snapshot's encoding matrices; above it the matrices of further layers are left out
LARGEST_MATRICES = 1_000_000
PROMPT, WRITTEN = 6, 32  # held-out tokens that a language model reads, and tokens that it then writes
LARGEST_LOGITS = 1_000_000  # logits of the residual stream that are computed at once, if one layer has no more
TEMPERATURE = 0.8
# positions of the encoding that are shown; fewer with several layers, so that the total stays the same
MAX_MATRIX_LENGTH = 256


class SnapshotCache(ActivationCache):
    """Keeps the attention patterns, cut to ``side`` queries and keys, and of the first sample the residual stream and the outputs
    of heads and MLPs: a snapshot of a long sequence never holds the scores and patterns of all layers at once."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self._side = side

    def __setitem__(self, name: str, value: Tensor) -> None:
        if name.endswith(".pattern"):
            cut = value.shape[-2] * value.shape[-1] > self._side**2
            super().__setitem__(name, value[..., : self._side, : self._side].clone() if cut else value)
        elif name.endswith(("embedding", ".mixed", ".out")):
            super().__setitem__(name, value[:1].clone() if len(value) > 1 else value)  # else a view keeps all samples


def take_snapshot(config: RunConfig, model: nn.Module, probe: Batch, step: int) -> Snapshot:
    return snapshot_from(config, model, probe, step, probe_tensors(config, model, probe))


@torch.no_grad()
def probe_tensors(config: RunConfig, model: nn.Module, probe: Batch) -> dict[str, Tensor]:
    """The tensors of a snapshot, without waiting for a device: ``predictions`` [sample, position], ``patterns.<kind>`` of the
    samples that fit, each [sample, layer, head, query, key], ``residual.<name>`` and ``contributions.<kind>``."""
    heads = config.n_layers * config.n_heads
    n_shown = min(len(probe.inputs), samples_with_patterns(config))
    cache = SnapshotCache(side=int((LARGEST_PATTERNS / heads) ** 0.5))
    with in_mode(model, training=False):
        passes = [forward(model, probe.rows(slice(n_shown)), cache)]
        if n_shown < len(probe.inputs):  # no patterns of these: fused attention then keeps no matrices
            passes.append(forward(model, probe.rows(slice(n_shown, None))))
        fields = {
            "patterns": _stacked(cache),
            "residual": residual_in(cache, model, probe.targets[0]),
            "contributions": contributions_in(cache, model, probe.targets[0]),
        }
    named = {f"{field}.{name}": tensor for field, by_tensor in fields.items() for name, tensor in by_tensor.items()}
    return {"predictions": torch.cat(passes).argmax(-1), **named}


def snapshot_from(config: RunConfig, model: nn.Module, probe: Batch, step: int, tensors: dict[str, Tensor]) -> Snapshot:
    patterns = [name for name in tensors if name.startswith("patterns.")]
    size = sum(tensors[name][0].numel() for name in patterns)
    first_sequences = slice(1 + (LARGEST_MORE // size if size else 0))
    arrays_by_name = arrays(
        {name: _fitting(value[first_sequences]) if name in patterns else value for name, value in tensors.items()}
    )

    def within(field: str) -> dict[str, np.ndarray]:
        return {name.removeprefix(field): value for name, value in arrays_by_name.items() if name.startswith(field)}

    stacks = within("patterns.")
    return Snapshot(
        step=step,
        patterns={kind: stack[0] for kind, stack in stacks.items()},
        more_patterns={kind: stack[1:] for kind, stack in stacks.items() if len(stack) > 1},
        encoding=encoding_matrices(model, probe.inputs.size(1)) if config.architecture.attends else {},
        residual=within("residual."),
        contributions=within("contributions."),
        samples=samples_of(config, probe, arrays_by_name["predictions"]),
        **(written_sample(config, model, probe) if probe.text else {}),
    )


def encoding_matrices(model: nn.Module, length: int) -> dict[str, np.ndarray]:
    """Matrices by name; those of each layer if each has its own encoding (:func:`engine.runs.events.of_layer`)."""
    encodings: list[PositionalEncoding] = list(model.stack.encodings)  # type: ignore[union-attr,arg-type]
    n_positions = min(length, int(MAX_MATRIX_LENGTH / len(encodings) ** 0.5))
    by_layer: dict[str, np.ndarray] = {}
    room = LARGEST_MATRICES
    for layer, encoding in enumerate(encodings):
        matrices, _ = matrices_of(encoding, n_positions)
        room -= sum(array.size for array in matrices.values())
        if layer and room < 0:
            break
        by_layer |= {of_layer(name, layer): array for name, array in matrices.items()}
    return by_layer


def written_sample(config: RunConfig, model: nn.Module, probe: Batch) -> dict[str, str]:
    """``prompt``, the first tokens of probe sample 0, and ``written``, the model's continuation. The seed is the config's."""
    first = probe.inputs[0, :PROMPT].tolist()
    written = write_on(config, model, first, WRITTEN, temperature=TEMPERATURE, seed=config.seed)
    text = text_settings_of(config).encoded()
    prompt = joined(text.vocabulary.spelled(first), text.unit)
    return {"prompt": prompt, "written": continuation(config, prompt, written)}


def patterns_in(cache: ActivationCache) -> dict[str, np.ndarray]:
    """The attention patterns of the first sample by kind of attention, [layer, head, query, key]."""
    return {kind: array(_fitting(stack[0])) for kind, stack in _stacked(cache).items()}


def _stacked(cache: ActivationCache) -> dict[str, Tensor]:
    """The attention patterns by kind of attention, [sample, layer, head, query, key]."""
    stacks: dict[str, list[Tensor]] = {}
    decoding = any(name.startswith("decoder.") for name in cache)
    for name, value in cache.items():
        if name.endswith(".pattern"):
            stack, _, kind, _ = name.split(".")
            stacks.setdefault("encoder" if stack == "encoder" and decoding else kind, []).append(value)
    return {kind: torch.stack(layers, dim=1).float() for kind, layers in stacks.items()}


def residual_in(cache: ActivationCache, model: nn.Module, targets: Tensor) -> dict[str, Tensor]:
    """The residual stream of the first sample (:attr:`engine.runs.events.Snapshot.residual`). ``targets`` [position]."""
    stacks: dict[str, list[Tensor]] = {"": []}
    for name, value in cache.items():
        if name.endswith("embedding") or (name.endswith(".out") and name.count(".") == 2):  # of a whole layer
            encodes = name == "source_embedding" or ("source_embedding" in cache and name.startswith("encoder."))
            stacks.setdefault("encoder" if encodes else "", []).append(value[0])
    stream = torch.stack(stacks[""])  # [layer + 1, position, d_model]
    outputs: int = model.head.out_features  # type: ignore[union-attr,assignment]
    at_once = max(1, LARGEST_LOGITS // (len(targets) * outputs))
    logits = [model.logits_of(part).transpose(1, 2) for part in torch.split(stream, at_once)]  # type: ignore[operator]
    answered = torch.split(targets.expand(len(stream), -1), at_once)
    nats = torch.cat(
        [cross_entropy(*pair, ignore_index=IGNORE, reduction="none") for pair in zip(logits, answered, strict=True)]
    )
    right = nats.neg().exp().masked_fill(targets == IGNORE, float("nan"))
    numbers = {"norm": stream.norm(dim=-1), "right": right}
    if "encoder" in stacks:
        numbers["encoder"] = torch.stack(stacks["encoder"]).norm(dim=-1)
    return numbers


def _fitting(pattern: Tensor) -> Tensor:
    """The part of patterns that is stored, [..., layer, head, query, key]."""
    layers, heads, queries, keys = pattern.shape[-4:]
    side = int((LARGEST_PATTERNS / (layers * heads)) ** 0.5)
    return pattern[..., :side, :side] if queries * keys > side * side else pattern


def array(value: Tensor) -> np.ndarray:
    return value.detach().float().cpu().numpy().astype(np.float32)


def arrays(tensors: dict[str, Tensor]) -> dict[str, np.ndarray]:
    """The tensors in float32, read from their device at once: each reading waits for it."""
    whole = array(torch.cat([tensor.float().flatten() for tensor in tensors.values()]))
    ends = np.cumsum([tensor.numel() for tensor in tensors.values()])
    parts = np.split(whole, ends[:-1])
    return {name: part.reshape(tensors[name].shape) for name, part in zip(tensors, parts, strict=True)}


def samples_of(config: RunConfig, probe: Batch, predictions: np.ndarray) -> list[Sample]:
    """The probe sequences with named tokens; of a decoder that continues its question, only the answer has targets. ``predictions``
    [sample, position]."""
    probe = probe.to(torch.device("cpu"))
    # Symbols fewer than usual in a sequence that somebody typed.
    shorter = (shapes(config).length - probe.inputs.size(1)) // 2
    first = config.seq_len - 1 - shorter if continues(config) else 0
    answer = answer_namer(config)
    samples = []
    for row in range(len(probe.inputs)):
        targets, guesses = probe.targets[row].tolist(), predictions[row].astype(int).tolist()
        answered = [position >= first and target != IGNORE for position, target in enumerate(targets)]
        samples.append(
            Sample(
                tokens=token_names(config, probe.inputs[row].tolist()),
                targets=[answer(t) if ask else "" for t, ask in zip(targets, answered, strict=True)],
                predictions=[answer(g) if ask else "" for g, ask in zip(guesses, answered, strict=True)],
                source=[] if probe.source is None else token_names(config, probe.source[row].tolist()),
            )
        )
    return samples


def token_names(config: RunConfig, tokens: list[int]) -> list[str]:
    settings, corpus = config.task_settings, task_data(config.task).corpus
    if corpus is not None:
        names = corpus(settings, config).names
        return [names[token] for token in tokens]
    special = dict(enumerate(settings.named_tokens or ("⊢", "·"), start=settings.n_symbols))
    return [special.get(token) or settings.token_name(token) for token in tokens]


def answer_namer(config: RunConfig) -> Callable[[int], str]:
    settings, corpus = config.task_settings, task_data(config.task).corpus
    return settings.answer_name if corpus is None else corpus(settings, config).names.__getitem__
