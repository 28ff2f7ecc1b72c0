"""Matching the number of parameters: the width at which one model has as many as another."""

from bisect import bisect_left

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters

WIDEST = 2048


def n_parameters(config: RunConfig) -> int:
    return sum(count_parameters(config, shapes(config)).values())


def matched_width(config: RunConfig, target: int) -> int:
    """The ``d_model`` at which ``config`` has a parameter count closest to ``target``; its other settings stay.

    Raises ValueError where the widest model has fewer.
    """
    step = 2 * config.n_heads if config.architecture.attends else 1  # an even width for each head
    widths = range(2 * step, WIDEST + 1, step)

    def size(width: int) -> int:
        # No validation for each width: it would be most of the work, and registries wait for it at import.
        return n_parameters(config.model_copy(update={"d_model": width}))

    index = bisect_left(widths, target, key=size)
    if index == len(widths):
        raise ValueError(
            f"target is {target}; allowed is at most {size(widths[-1])}, the parameters at d_model {WIDEST}."
        )
    return min(widths[max(0, index - 1) : index + 1], key=lambda width: abs(size(width) - target))
