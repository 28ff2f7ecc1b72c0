"""Held-out metrics on sequences without the correlation that training has."""

from __future__ import annotations

from engine.training.evaluation import evaluate
from engine.training.trained import Trained

SEQUENCES = 512


def measure(trained: Trained) -> dict[str, float]:
    """``decorrelated_loss`` and ``decorrelated_<accuracy>``; a task without a correlation is tested as in training."""
    batch = trained.data.decorrelated_batch(size=SEQUENCES).to(trained.device)
    return {f"decorrelated_{name}": value for name, value in evaluate(trained.model, batch).items()}
