"""The arguments of questions about attention: a model, with faults or without, a sequence, a head."""

import hashlib
import json
from collections.abc import Collection
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
WIDTHS = (4, 16, 64, 256)
"""Head widths at which scores, and the entropy of their softmax, are compared before training."""
MATERIALISED = ("attention_impl", "materialised")


@dataclass(frozen=True)
class ModelAsked:
    """A trained model: a config with its stored weights, or trained again up to a step."""

    config: RunConfig
    weights: str = ""
    """The absolute path of the weights at that step; empty where none are stored and the model is trained again."""
    step: int | None = None
    """The step whose model is analysed; None is the last step."""
    changes: tuple[tuple[str, object], ...] = ()
    """Settings to change for the analysis, with the same weights: those of :data:`FAULTS`."""


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


@dataclass(frozen=True)
class Fault:
    """A fault as changes to settings of RunConfig. Faults of one ``group`` exclude each other."""

    label: str
    group: str
    changes: tuple[tuple[str, object], ...]
    explanation: str


FAULTS: dict[str, Fault] = {
    "mask_missing": Fault(
        "Mask missing", "mask", (("mask_fault", "missing"),),
        "Every position sees every other, the answer it has to give among them.",
    ),
    "mask_transposed": Fault(
        "Mask transposed", "mask", (("mask_fault", "transposed"),),
        "Upper and lower triangle are swapped: a position sees itself and what comes later.",
    ),
    "mask_off_by_one": Fault(
        "Mask off by one", "mask", (("mask_fault", "off_by_one"),),
        "The triangle reaches one key too far: a position sees the next token, which is its answer.",
    ),
    "query_softmax": Fault(
        "Softmax over queries", "softmax", (("softmax_axis", "query"), MATERIALISED),
        "The softmax runs down the columns: queries compete for a key instead of keys for a query.",
    ),
    "no_scale": Fault(
        "No 1/√d_head", "score", (("attention_score", "dot"),),
        "Scores of wide heads are large, the softmax is nearly one-hot, and its gradient nearly zero.",
    ),
    "no_skip": Fault(
        "No skip connections", "skips", (("skips", False),),
        "Each branch takes the place of its input instead of being added to it.",
    ),
    "no_norm": Fault(
        "No LayerNorm", "norm", (("norm", "none"),),
        "What attention reads has whatever size the layers before gave it.",
    ),
}  # fmt: skip


def why_not(config: RunConfig, name: str) -> str:
    """The reason why a fault cannot be switched on in this model, in one sentence; empty where it can."""
    if FAULTS[name].group == "mask" and not config.causal:
        return "An encoder has no causal mask to break."
    if name == "no_scale" and config.attention_score != "scaled_dot":
        return f"This run's score is {config.attention_score}, which has no 1/√d_head."
    if all(config.value(setting) == value for setting, value in FAULTS[name].changes if setting != "attention_impl"):
        return "This run was trained with it."
    return ""


def with_faults(asked: ModelAsked, names: Collection[str]) -> ModelAsked:
    """The same trained model with the faults switched on."""
    changes = {setting: value for name in FAULTS if name in names for setting, value in FAULTS[name].changes}
    return ModelAsked(asked.config, asked.weights, asked.step, tuple(changes.items()))
