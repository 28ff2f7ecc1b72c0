"""Pointing: the share of samples at which an explanation's highest score falls on the true source of the answer."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.analysis.measurements import explanations
from engine.model.mode import in_mode
from engine.tasks.base.data import task_data
from engine.training.trained import Trained

SAMPLES = 256


def measure(trained: Trained) -> dict[str, float]:
    """``pointing.<method>``: the share of held-out samples whose top source token is the true one.

    ``last``, ``average`` and ``rollout`` use attention (averaged over heads); ``best_layer`` is the single layer with the
    highest share; ``gradient_x_input``, ``gradient_norm`` and ``leave_one_out`` use the whole model. The last position,
    which asks, is no candidate. Raises ValueError where the task has no single true source.
    """
    true_source = task_data(trained.config.task).true_source
    if true_source is None:
        raise ValueError(f"task is {trained.config.task}; allowed for pointing is one with a known true source.")
    model, batch = trained.model, trained.data.validation_batch(size=SAMPLES).to(trained.device)
    true = true_source(batch.inputs.cpu(), trained.config.task_settings)
    with in_mode(model, training=False):
        with torch.enable_grad():
            times_input, norm = explanations.gradients(model, batch)
        patterns = explanations.patterns_of(model, batch)
        without_one = explanations.leave_one_out(model, batch)
    scores = {
        "last": explanations.attention_of_layer(patterns, -1),
        "average": explanations.averaged_attention(patterns),
        "rollout": explanations.rollout(patterns),
        "gradient_x_input": times_input,
        "gradient_norm": norm,
        "leave_one_out": without_one,
    }
    layers = [pointing(explanations.attention_of_layer(patterns, layer), true) for layer in range(len(patterns))]
    return {
        **{f"pointing.{method}": pointing(score, true) for method, score in scores.items()},
        "pointing.best_layer": max(layers),
    }


def pointing(score: Tensor, true: Tensor) -> float:
    """The share of samples whose top score is right; score [batch, key] with the asking position last, true [batch]."""
    return (score[:, :-1].argmax(dim=-1).cpu() == true).float().mean().item()
