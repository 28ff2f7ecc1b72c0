"""The parts of a model that can be ablated, by name.

``skip.<layer>``, ``norm.<layer>``, ``mlp.<layer>`` and ``layer.<layer>``; ``head.<layer>.<head>``; ``mask``; ``encoding``. Layers
and heads count from 0. Before the layer, ``e`` means the encoder of an encoder-decoder, and ``c`` the cross-attention of a layer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.analysis.attention.requests import AttentionKind, attentions_of
from engine.config.run_config import RunConfig
from engine.settings.errors import Problem

PartKind = Literal["skip", "norm", "mlp", "layer", "head", "mask", "encoding"]
LETTERS: dict[AttentionKind, str] = {"self": "", "encoder": "e", "cross": "c"}


@dataclass(frozen=True)
class Part:
    """``which``: the attention of a head; ``encoder`` also for a layer of the encoder of an encoder-decoder."""

    kind: PartKind
    which: AttentionKind = "self"
    layer: int = 0
    head: int = 0

    @property
    def name(self) -> str:
        if self.kind in ("mask", "encoding"):
            return self.kind
        name = f"{self.kind}.{LETTERS[self.which]}{self.layer}"
        return f"{name}.{self.head}" if self.kind == "head" else name


def heads_in(config: RunConfig, layers: int) -> list[Part]:
    heads = range(config.n_heads)
    return [
        Part("head", which, layer, head) for which in attentions_of(config) for layer in range(layers) for head in heads
    ]


def parts_of(config: RunConfig) -> dict[str, Part]:
    return {part.name: part for part in _parts(config)}


def _parts(config: RunConfig) -> Iterator[Part]:
    two, attends = config.family == "encoder_decoder", config.architecture.attends
    stacks: tuple[AttentionKind, ...] = ("self", "encoder") if two else ("self",)
    recurrent = config.family in ("gru", "lstm")
    has: dict[PartKind, bool] = {
        "skip": config.skips and not recurrent,
        "norm": config.norm != "none" and not recurrent,
        "mlp": config.mlp and attends,
        "layer": True,
    }
    for kind in (kind for kind, there in has.items() if there):
        yield from (Part(kind, which, layer) for which in stacks for layer in range(config.n_layers))
    if not attends:
        return
    yield from heads_in(config, config.n_layers)
    if config.causal and config.mask_fault != "missing":
        yield Part("mask")
    if config.pos_encoding != "nope":
        yield Part("encoding")


def parts_named(config: RunConfig, names: Sequence[str]) -> tuple[Part, ...]:
    """The parts of these names, each once. Raises ValueError with one sentence that names the first unknown name."""
    there = parts_of(config)
    for name in names:
        if name not in there:
            raise ValueError(str(Problem("without", name, f"one of {_in_words(list(there))}")))
    return tuple(there[name] for name in dict.fromkeys(names))


def _in_words(names: Sequence[str]) -> str:
    by_pattern: dict[str, list[str]] = {}
    for name in names:
        by_pattern.setdefault(re.sub(r"\d+", "", name), []).append(name)
    return ", ".join(group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}" for group in by_pattern.values())
