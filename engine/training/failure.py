"""A run that fails: the first value that is not finite, found by replaying the batch, and settings that would have prevented it,
each tried on the very same steps."""

import math
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.estimate.pieces import pieces
from engine.model.activations import ActivationCache, in_mode
from engine.runs.events import Event, Failed, Measuring, Progress
from engine.runs.record_options import RecordOptions
from engine.settings.errors import ConfigError
from engine.settings.fields import to_text
from engine.tasks.base.data import IGNORE
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of

Location = tuple[int | None, str]  # the layer, from 0, or None outside the layers; and the name of the tensor
Train = Callable[..., Iterable[Event]]
MAX_TRIAL_STEPS = 60  # the highest failing step up to which remedies are tried; each trial trains again up to that step
REPEATED = RecordOptions(remedy=False, snapshots=False)


def first_non_finite(model: nn.Module, batch: Batch) -> Location:
    """The first tensor, in the order of computation, that holds NaN or infinity: weights, activations, gradients."""
    if (weight := _first_weight(model)) is not None:
        return weight
    values, loss = _activations(model, batch)
    if (activation := _first_of(values)) is not None:
        return activation
    if not loss.isfinite():
        return None, "loss"
    traced = {name: value for name, value in values.items() if value.requires_grad}
    grads = torch.autograd.grad(loss, list(traced.values()), allow_unused=True)
    for name, grad in reversed(list(zip(traced, grads, strict=True))):
        if grad is not None and not grad.isfinite().all():
            return _layer_of(name), f"gradient of {name}"
    return None, "gradient of the weights"


def non_finite_at_end(model: nn.Module, held_out: Batch, loss: float, rows: int) -> Location | None:
    """The first tensor that holds NaN or infinity after the last step: a weight or, if the ``loss`` on the held-out sequences is
    not finite, an activation, searched in ``rows`` of them at a time."""
    weight = _first_weight(model)
    if weight is not None or math.isfinite(loss):
        return weight
    for piece in map(held_out.rows, pieces(len(held_out.inputs), rows)):
        with torch.no_grad(), in_mode(model, training=False):
            values, here = _activations(model, piece)
        # a batch that asks for no answer has no loss
        if not here.isfinite() and (piece.targets != IGNORE).any():
            return _first_of(values) or (None, "loss")
    return None


def _activations(model: nn.Module, batch: Batch) -> tuple[ActivationCache, Tensor]:
    cache: ActivationCache = {}
    loss = loss_of(forward(model, batch, cache).float(), batch.targets)
    # scores hold -inf at masked positions by design
    return {name: value for name, value in cache.items() if not name.endswith(".scores")}, loss


def _first_weight(model: nn.Module) -> Location | None:
    location = _first_of(dict(model.named_parameters()))
    return location and (location[0], f"weight {location[1]}")


def _first_of(values: ActivationCache) -> Location | None:
    return next(((_layer_of(name), name) for name, value in values.items() if not value.isfinite().all()), None)


def _layer_of(name: str) -> int | None:
    return next((int(part) for part in name.split(".") if part.isdigit()), None)


@dataclass(frozen=True)
class Remedy:
    setting: str | None = None
    sentence: str = ""


def remedies(config: RunConfig) -> list[dict[str, str | float]]:
    """The mildest remedy first; only settings that change this config."""
    candidates: list[dict[str, str | float]] = [
        {"dtype": "float32"},
        {"grad_clip": 1.0},
        {"warmup_steps": max(20, config.steps // 10)},
        {"norm": "pre"},
        {"optimizer": "adamw"},
        {"learning_rate": config.learning_rate / 10},
        {"learning_rate": config.learning_rate / 100},
    ]
    return [c for c in candidates if all(config.value(name) != value for name, value in c.items())]


def find_remedy(config: RunConfig, step: int, train: Train) -> Generator[Measuring, None, Remedy]:
    """The first remedy under which the same steps stay finite; none is tried if the run is too long to repeat. ``train`` is
    :func:`engine.training.train.train`."""
    for option in remedies(config):
        name = ", ".join(f"{setting}={to_text(value)}" for setting, value in option.items())
        try:
            changed = config.replace(**option)
        except ConfigError:
            continue
        if step > MAX_TRIAL_STEPS:
            return Remedy(name, f"Try {name} (not verified: {step} steps are too many to repeat here).")
        if (yield from _stays_finite(train(changed, record=REPEATED), step)):
            return Remedy(name, f"With {name} the same {step} steps stay finite.")
    return Remedy(sentence="None of the usual settings alone kept it finite.")


def _stays_finite(events: Iterable[Event], step: int) -> Generator[Measuring, None, bool]:
    for event in events:
        yield Measuring(step)
        if isinstance(event, Failed):
            return False
        if isinstance(event, Progress) and event.step > step:
            return True
    return True
