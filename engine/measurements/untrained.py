"""The model as it was before the first step."""

from __future__ import annotations

from engine.config import RunConfig
from engine.framing import shapes
from engine.model.build import build_model
from engine.model.transformer import Transformer


def untrained(config: RunConfig) -> Transformer:
    """First weights come from the config's seed alone, so they can be drawn again at the end."""
    return build_model(config, **shapes(config).of_model)
