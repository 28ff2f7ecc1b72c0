from bisect import bisect_left
from collections.abc import Mapping

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters

WIDEST = 2048


def n_parameters(config: RunConfig) -> int:
    return sum(count_parameters(config, shapes(config)).values())


def matched_width(settings: Mapping[str, object], **changes: object) -> int:
    """The ``d_model`` at which a model with these changes has a parameter count closest to one without them.

    Raises ValueError if the widest model has fewer.
    """
    config, target = parse({**settings, **changes}), n_parameters(parse(settings))
    step = 2 * config.n_heads if config.architecture.attends else 1  # an even width for each head
    widths = range(2 * step, WIDEST + 1, step)

    def size(width: int) -> int:
        # No validation for each width: it would be most of the work, and registries wait for it at import.
        return n_parameters(config.model_copy(update={"d_model": width}))

    index = bisect_left(widths, target, key=size)
    if index == len(widths):
        raise ValueError(
            f"target is {target}; it must be at most {size(widths[-1])}, the parameters at d_model {WIDEST}."
        )
    return min(widths[max(0, index - 1) : index + 1], key=lambda width: abs(size(width) - target))
