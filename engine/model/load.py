"""The weights file of a run: saving a model, and loading it again."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_model, save_model
from torch import nn

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.foundation.files import replacing
from engine.model.baseline import Baseline
from engine.model.build import build_model
from engine.model.transformer import Transformer


def trained_model(config: RunConfig, weights: Path) -> Transformer | Baseline:
    """The model of a config with the weights in a file, on the CPU in evaluation mode. Raises ValueError with one sentence
    where the weights cannot be loaded.

    The last few models are remembered, so the caller must not change the model it is given.
    """
    try:
        return _loaded(config, weights, weights.stat().st_mtime_ns)
    except OSError:
        raise ValueError("The run has left no weights; it leaves them when it pauses or ends.") from None


@lru_cache(maxsize=4)
def _loaded(config: RunConfig, weights: Path, written: int) -> Transformer | Baseline:
    model = build_model(config, **shapes(config).of_model)
    load_model(model, str(weights))
    return model.eval()


def save_weights(model: nn.Module, path: Path) -> None:
    """Save a model's parameters and buffers, those of shared layers once; the file appears whole or not at all. Raises OSError
    where the disk does not take it."""
    with replacing(path) as half_written:
        try:
            save_model(model, str(half_written))
        except SafetensorError as error:
            raise OSError(str(error)) from error
