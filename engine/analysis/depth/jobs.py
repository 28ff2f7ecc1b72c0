"""The jobs about depth: the effect of a deep stack on positions, before training and after it. One answer holds every depth, so
that a dial that moves among them needs no further answer."""

from collections.abc import Iterable, Iterator
from typing import Any, TypedDict, cast

import numpy as np

from engine.analysis.attention.requests import ModelRequest
from engine.config.run_config import RunConfig, parse
from engine.foundation.job import Job

DEPTHS = (1, 2, 4, 8, 16, 32, 48)
LENGTHS = (8, 32, 128, 512)  # lengths at which the last token is asked about token 0


class OversquashingNumbers(TypedDict):
    lengths: np.ndarray
    """[length]; empty for a model that looks ahead, since its first tokens would not be a shorter sequence, and if positions are
    coupled, since they belong to the task's sequences."""
    first_token: np.ndarray
    """The relative change of the last token's output if token 0 is replaced by another symbol, [depth, length]."""
    repeat: np.ndarray
    """The relative change of the last token's output if 0 1 1 ... 1 grows to this length by one more 1, [depth, length]."""
    repeat_equal: np.ndarray
    """The share of the coordinates of that output that are equal in bfloat16, [depth, length]."""


class DepthNumbers(OversquashingNumbers):
    """Numbers by depth, that is after so many layers of one draw of initial weights, or of one trained model."""

    depths: np.ndarray  # [depth]
    roll_out: np.ndarray  # the roll-out weight of each position at the last one, [depth, position]
    # the weight that this one layer gives each position at the last one, mean over heads, [depth, position]
    layer_weight: np.ndarray
    token_share: np.ndarray
    """The share in which the tokens of a sequence differ, 0 to about 1, [depth]; of initial weights those of an encoder."""
    gradient: dict[str, np.ndarray]  # the L2 norm of the gradient of the first layer's weights, by norm, [depth]


class MeasureDepth(Job[DepthNumbers], function=".measure:of_first_weights", noun="Measuring the effect of depth"):
    """One draw of initial weights, which the config's seed decides. The numbers stay on disk."""

    config: RunConfig
    depths: tuple[int, ...] = DEPTHS


class MeasureOversquashing(
    Job[OversquashingNumbers], function=".measure:oversquashing_of_first_weights", noun="Measuring the last token"
):
    """The same draw at all :data:`LENGTHS`: a pass over the longest takes too long for a first figure."""

    config: RunConfig
    depths: tuple[int, ...] = DEPTHS


class MeasureRunDepth(Job[DepthNumbers], function=".measure:of_run", noun="Measuring the effect of the run's layers"):
    request: ModelRequest


def dial(**settings: object) -> RunConfig:
    """The config behind the dial; ``settings`` (``pos_encoding``, ``skips``, ``mlp``, ``norm``, ``seed``, ...) change it. Raises
    ConfigError."""
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 256, "seq_len": 64, "n_layers": 1}
    return parse({"task": "first_token", "pos_encoding": "rope", **sizes, **settings})


def by_seed(config: RunConfig, seeds: Iterable[int], depths: tuple[int, ...] = DEPTHS) -> Iterator[DepthNumbers]:
    return (MeasureDepth(config.replace(seed=seed), depths).do() for seed in seeds)


def to_json(numbers: DepthNumbers) -> dict[str, object]:
    lists = {name: value.tolist() for name, value in numbers.items() if isinstance(value, np.ndarray)}
    return {**lists, "gradient": {norm: values.tolist() for norm, values in numbers["gradient"].items()}}


def from_json(table: dict[str, Any]) -> DepthNumbers:
    """Raises KeyError, TypeError or ValueError if these are no such numbers."""
    read = {name: np.array(table[name]) for name in DepthNumbers.__annotations__ if name != "gradient"}
    gradient = {norm: np.array(values) for norm, values in table["gradient"].items()}
    return cast(DepthNumbers, {**read, "gradient": gradient})
