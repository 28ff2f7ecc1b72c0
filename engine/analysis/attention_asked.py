"""The arguments of questions about attention: a model, a sequence, a head."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.foundation.code_hash import code_hash
from engine.foundation.files import data_folder

Which = Literal["self", "encoder", "cross"]
"""The kind of attention: self-attention of the stack that answers; of an encoder-decoder also the encoder's self-attention and
cross-attention."""

LARGEST = 50_000_000
"""The most attention weights of one sequence, over all layers and heads, that a worker computes for a page."""
FOLDER = "trained_again"


@dataclass(frozen=True)
class ModelAsked:
    """A trained model: a config with its stored weights, or trained again up to a step."""

    config: RunConfig
    weights: str = ""
    """The absolute path of the weights at that step; empty where none are stored and the model is trained again."""
    step: int | None = None
    """The step whose model is analysed; None is the last step."""
    changes: tuple[tuple[str, object], ...] = ()
    """Settings to change for the analysis, with the same weights: the faults of :mod:`attention_faults`."""


@dataclass(frozen=True)
class SampleAsked:
    """A held-out sequence by its number, or the reader's own tokens."""

    number: int = 0
    text: str = ""
    """Token names separated by spaces or commas (of a text task: any text); empty for the numbered sequence."""


@dataclass(frozen=True)
class Place:
    """One head of one kind of attention. Layers and heads count from 0."""

    which: Which
    layer: int
    head: int


def places_in(config: RunConfig) -> tuple[Which, ...]:
    """The kinds of attention of an architecture."""
    return ("self", "encoder", "cross") if config.family == "encoder_decoder" else ("self",)


def tap_name(config: RunConfig, which: Which, layer: int) -> str:
    """The prefix of that attention's tensors in an ``ActivationCache`` (:mod:`engine.model.activations`)."""
    stack = "encoder" if which == "encoder" or config.family == "encoder" else "decoder"
    return f"{stack}.{layer}.{'cross' if which == 'cross' else 'self'}"


def weights_of_one_sequence(config: RunConfig) -> int:
    """The number of attention weights of one sequence, over all layers and heads."""
    sizes = shapes(config)
    own, source = sizes.length, sizes.source_length or 0
    return config.n_layers * config.n_heads * (own * own + own * source + source * source)


def file_of(asked: ModelAsked) -> Path:
    """The file for the weights of a model that was trained again; the same code trains it only once on a machine."""
    step = asked.config.steps if asked.step is None else asked.step
    settings = json.dumps([code_hash(), asked.config.flat()], sort_keys=True)
    return data_folder() / FOLDER / f"{hashlib.sha256(settings.encode()).hexdigest()[:24]}-{step}.safetensors"
