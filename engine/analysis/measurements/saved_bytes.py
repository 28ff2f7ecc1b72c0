"""The bytes that one training step saves for backward, counted through autograd's hooks, beside the formula's count.

``saved_bytes`` and, of these, ``score_bytes``; where there is a formula (:mod:`engine.estimate.memory`), ``saved_bytes.formula``,
and ``formula_agrees``: 1 where the formula is right to the byte, else 0.
"""

from __future__ import annotations

from engine.estimate.prediction import predict
from engine.training.measured_memory import measure_memory
from engine.training.trained import Trained


def measure(trained: Trained) -> dict[str, float]:
    config = trained.config
    batch = trained.data.validation_batch(size=config.batch_size).to(trained.device)
    counted = measure_memory(config, trained.model, batch, ())
    assert counted.saved is not None
    assert counted.scores is not None
    numbers = {"saved_bytes": float(counted.saved), "score_bytes": float(counted.scores)}
    told = predict(config).memory.saved
    return numbers if told is None else numbers | {"saved_bytes.formula": told, "formula_agrees": told == counted.saved}
