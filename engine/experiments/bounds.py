"""The bounds of the numbers of trials: the best and the worst value that there is, and blind guessing. Two models whose numbers are both at
one bound cannot be told apart by them, however different they are."""

import math

from engine.config.run_config import RunConfig

NEAR = 0.02
"""The distance within which a number is at a bound: a share, or nats."""
SHARES = ("accuracy", "finite", "pointing", "answer_weight", "unchanged_by", "position_probe", "attention_entropy",
          "first_token_weight", "right_when_asked")  # fmt: skip
"""Words in the names of numbers that lie between 0 and 1."""
LOSSES = ("loss", "best_loss")


def is_share(metric: str) -> bool:
    return any(word in metric for word in SHARES)


def is_loss(metric: str) -> bool:
    """Whether a lower number is better: a loss, or one at a test length."""
    return metric.partition("@")[0] in (*LOSSES, "train_loss")


def bounds_of(config: RunConfig, metric: str) -> dict[str, float]:
    """The bounds of a number (:func:`engine.experiments.trial.numbers_of`) of a model with this config, by their name; a gradient, for
    one, has none."""
    task = config.task_settings
    if is_share(metric):
        return {"ceiling": 1.0, "floor": 0.0} | ({"chance": task.chance(config)} if "accuracy" in metric else {})
    if metric.partition("@")[0] in LOSSES:
        return {"floor": task.floor, "chance": math.log(task.n_answers(config))}
    return {}


def bound_at(config: RunConfig, metric: str, value: float) -> str:
    """The bound that a number is at: "ceiling", "floor", "chance"; empty where it is at none."""
    near = (name for name, bound in bounds_of(config, metric).items() if abs(value - bound) <= NEAR + 1e-12)
    return next(near, "")
