"""Tiny models and tokens for the tests of the engine."""

from collections.abc import Generator
from pkgutil import resolve_name
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig, parse
from engine.model.build import build_model
from engine.model.transformer import Transformer
from engine.runs.events import Measuring
from engine.training.data import Data
from engine.training.result import Trained
from engine.training.train import prepare

Result = TypeVar("Result")
# a block with everything that is newer than pre-LN, of a model with four heads, say
TODAY: dict[str, Any] = {
    "norm_kind": "rms", "qk_norm": True, "activation": "swiglu", "kv_heads": 2, "value_residual": 0.25, "depth_scale": True,
}  # fmt: skip
N_TOKENS, N_OUTPUTS, LENGTH, SOURCE_LENGTH = 11, 7, 10, 6


def tiny_config(**settings: Any) -> RunConfig:
    return parse({"d_model": 16, "n_heads": 4, "n_layers": 2, **settings})


def tiny_model(max_positions: int = 64, **settings: Any) -> Transformer:
    """A model in double precision, so that equal results agree to many digits."""
    config = tiny_config(**settings)
    return build_model(config, n_tokens=N_TOKENS, n_outputs=N_OUTPUTS, max_positions=max_positions).double()


def tiny_encoding(name: str, *, max_positions: int, causal: bool | None = None, **settings: Any) -> Any:
    """The layer module of an encoding, by default as causal as the config's architecture."""
    config = tiny_config(pos_encoding=name, **settings)
    causal = config.causal if causal is None else causal
    layer = resolve_name(config.encoding.layer)
    return layer(config, config.encoding_settings, max_positions=max_positions, causal=causal)


def tokens(length: int = LENGTH, *, batch: int = 3, seed: int = 0) -> Tensor:
    """[batch, length]"""
    return torch.randint(N_TOKENS, (batch, length), generator=torch.Generator().manual_seed(seed))


def given_to(model: Transformer) -> dict[str, Tensor]:
    """Inputs of the model's family: ``inputs``, and for an encoder-decoder ``source``."""
    source = {"source": tokens(SOURCE_LENGTH, seed=1)} if model.source_stack is not None else {}
    return {"inputs": tokens(), **source}


def shifted(given: dict[str, Tensor], by: int) -> dict[str, Any]:
    """The same inputs at positions that count up from so many."""
    at = {name: range(by, by + tokens.size(1)) for name, tokens in given.items()}
    return {**given, "positions": at["inputs"], "source_positions": at.get("source")}


def exhaust(work: Generator[Measuring, None, Result]) -> tuple[Result, int]:
    """The result of the work, and the number of its pauses."""
    pauses = 0
    while True:
        try:
            next(work)
            pauses += 1
        except StopIteration as end:
            return end.value, pauses


def as_trained(model: nn.Module | None = None, **settings: Any) -> Trained:
    """The argument of a measurement: a model, by default the config's with its initial weights, as if it were trained."""
    config = parse({"device": "cpu", **settings})
    return Trained(config, model or prepare(config), Data(config), torch.device("cpu"))
