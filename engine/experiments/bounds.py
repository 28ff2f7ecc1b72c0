"""The bounds of the numbers of trials: the best value, the worst value, and blind guessing.

Two models whose numbers are both at one bound cannot be told apart by them, however different they are.
"""

import math

from engine.config.run_config import RunConfig

NEAR = 0.02  # the distance within which a number is at a bound: a share, or nats
# words in the names of numbers that lie between 0 and 1
SHARES = ("accuracy", "finite", "pointing", "answer_weight", "unchanged_by", "position_probe", "attention_entropy",
          "first_token_weight", "right_when_asked")  # fmt: skip
LOSSES = ("loss", "best_loss")


def is_share(metric: str) -> bool:
    return any(word in metric for word in SHARES)


def is_loss(metric: str) -> bool:
    return metric.partition("@")[0] in (*LOSSES, "train_loss")


def bounds_of(config: RunConfig, metric: str) -> dict[str, float]:
    """The bounds by name of a number (:func:`engine.experiments.trial.numbers_of`); a gradient, for example, has none."""
    task = config.task_settings
    if is_share(metric):
        return {"ceiling": 1.0, "floor": 0.0} | ({"chance": task.chance(config)} if "accuracy" in metric else {})
    if metric.partition("@")[0] in LOSSES:
        return {"floor": task.floor, "chance": math.log(task.n_answers(config))}
    return {}


def best_value(config: RunConfig, metric: str) -> float | None:
    if metric.partition("@")[0] == "gap":
        return 0.0
    bounds = bounds_of(config, metric)
    return bounds.get("ceiling", bounds.get("floor"))


def bound_at(config: RunConfig, metric: str, value: float) -> str:
    """ "ceiling", "floor" or "chance"; empty if the number is at no bound."""
    near = (name for name, bound in bounds_of(config, metric).items() if abs(value - bound) <= NEAR + 1e-12)
    return next(near, "")
