"""Loss on text that is held out in any case, whatever the run's own validation windows are."""

from __future__ import annotations

from engine.training.data import Data
from engine.training.evaluation import evaluate
from engine.training.trained import Trained


def measure(trained: Trained) -> dict[str, float]:
    """``other_text.loss``: on other plays (of one's own text, on its last tenth), in nats; and ``other_text.flattery``, that
    loss minus the run's validation loss. Raises ValueError where the task reads no text.
    """
    if trained.data.corpus is None:
        raise ValueError(f"task is {trained.config.task}; allowed for other_text is one that reads a text.")
    other = Data(trained.config.replace(split="plays")).validation_batch().to(trained.device)
    own = trained.data.validation_batch().to(trained.device)
    loss = evaluate(trained.model, other)["loss"]
    return {"other_text.loss": loss, "other_text.flattery": loss - evaluate(trained.model, own)["loss"]}
