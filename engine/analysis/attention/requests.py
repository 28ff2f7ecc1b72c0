from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes, trained_lengths
from engine.foundation.tables import read_tables
from engine.settings.fields import Value
from engine.tasks import TASKS

# self-attention of the stack that answers; of an encoder-decoder also the encoder's self-attention and cross-attention
AttentionKind = Literal["self", "encoder", "cross"]

MAX_ATTENTION_WEIGHTS = 50_000_000  # of one sequence, over all layers and heads, that a worker computes for a page
WIDTHS = (4, 16, 64, 256)  # head widths at which scores, and the entropy of their softmax, are compared before training


@dataclass(frozen=True)
class ModelRequest:
    config: RunConfig
    weights: str = ""  # the absolute path of the file with the trained weights; empty for the untrained model
    # settings to change for the analysis, with the same weights: those of FAULTS
    changes: tuple[tuple[str, object], ...] = ()

    @property
    def at_step(self) -> int:
        return self.config.steps if self.weights else 0


@dataclass(frozen=True)
class SampleRequest:
    number: int = 0
    text: str = ""
    """Token names separated by spaces or commas (of a text task: any text); empty for the numbered sequence."""


def attentions_of(config: RunConfig) -> tuple[AttentionKind, ...]:
    return ("self", "encoder", "cross") if config.family == "encoder_decoder" else ("self",)


def tap_name(config: RunConfig, which: AttentionKind, layer: int) -> str:
    """The prefix of that attention's tensors in an ``ActivationCache`` (:mod:`engine.model.activations`)."""
    stack = "encoder" if which == "encoder" or config.family == "encoder" else "decoder"
    return f"{stack}.{layer}.{'cross' if which == 'cross' else 'self'}"


def weights_of_one_sequence(config: RunConfig) -> int:
    sizes = shapes(config)
    length, source = sizes.length, sizes.source_length or 0
    return config.n_layers * config.n_heads * (length * length + length * source + source * source)


def shortest_known(config: RunConfig) -> int:
    # all beginnings of a text are answered in training
    return 0 if TASKS[config.task].corpus else trained_lengths(config).start


def lengths_in_words(config: RunConfig) -> str:
    lengths = trained_lengths(config)
    trained = f"{lengths.start} to {lengths[-1]}" if len(lengths) > 1 else f"{lengths.start}"
    shorter = shortest_known(config) > TASKS[config.task].shortest
    return f"The model is trained on {trained} tokens{'; shorter sequences are new to it' if shorter else ''}."


@dataclass(frozen=True)
class Fault:
    """Changes to settings of RunConfig. Faults of one ``group`` exclude each other."""

    slug: str
    label: str
    group: str
    changes: Mapping[str, Value]
    explanation: str


FAULTS = read_tables(Path(__file__).with_name("faults.toml"), Fault)


def why_not(config: RunConfig, name: str) -> str:
    if FAULTS[name].group == "mask" and not config.causal:
        return "An encoder has no causal mask to break."
    if name == "no_scale" and config.attention_score != "scaled_dot":
        return f"This run's score is {config.attention_score}, which has no 1/√d_head."
    changes = {**FAULTS[name].changes, "attention_impl": config.attention_impl}
    if all(config.value(setting) == value for setting, value in changes.items()):
        return "This run was trained with it."
    return ""


def with_faults(request: ModelRequest, names: Collection[str]) -> ModelRequest:
    changes = {setting: value for name in FAULTS if name in names for setting, value in FAULTS[name].changes.items()}
    return ModelRequest(request.config, request.weights, tuple(changes.items()))
