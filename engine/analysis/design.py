"""The preview of an encoding before any training."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import torch

from engine.analysis.encoding_jobs import Look
from engine.config.run_config import RunConfig
from engine.encodings.layer import PositionalEncoding, PositionOutOfRange
from engine.estimate.layout import shapes
from engine.model.build import build_model

BEYOND = 2
"""The shown length as a multiple of the trained length, where the encoding is defined there."""


@torch.no_grad()
def first_look(config: RunConfig) -> Look:
    """The encoding with which a run of this config would start."""
    sizes = shapes(config).of_model
    model = build_model(config, **sizes).eval()
    trained = sizes["max_positions"]
    encoding: PositionalEncoding = model.encoding  # type: ignore[assignment]
    matrices, length = encoding.matrices(trained), trained
    with suppress(PositionOutOfRange):
        matrices, length = encoding.matrices(BEYOND * trained), BEYOND * trained
    arrays = {name: tensor.detach().float().numpy().astype(np.float32) for name, tensor in matrices.items()}
    similarity = arrays["similarity"]
    learned = sum(p.numel() for name, p in model.named_parameters() if ".encodings." in f".{name}")
    distance = np.array([np.diagonal(similarity, -offset).mean() for offset in range(length)], dtype=np.float32)
    return Look(
        matrix=arrays["matrix"],
        similarity=similarity,
        distance=distance,
        trained=trained,
        length=length,
        parameters=learned,
    )
