"""The model before the first step."""

from __future__ import annotations

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.model.build import build_model
from engine.model.transformer import Transformer


def untrained(config: RunConfig) -> Transformer:
    """The untrained model of a config; its weights depend on the seed alone, so they can be drawn again at the end."""
    model = build_model(config, **shapes(config).of_model)
    if not isinstance(model, Transformer):
        raise ValueError(f"family is {config.family}; this measurement is of a transformer's blocks.")
    return model
