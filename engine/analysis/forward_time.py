"""What an encoding costs in time: one forward pass with it against one of the same model without.

The two take turns, so that whatever else the machine does falls on both; a pair gives a ratio, the pairs a median.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn

from engine.analysis.encoding_jobs import Timing
from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.foundation.files import write_whole
from engine.foundation.paths import data_folder
from engine.model.build import build_model

PAIRS, FEWEST = 15, 3
ENOUGH = 2.0
"""Seconds for one encoding after which no further pair is made, beyond the fewest: others wait for this worker."""


@torch.inference_mode()
def forward_times(configs: Sequence[RunConfig]) -> list[Timing]:
    """Each config beside itself with no encoding, on the CPU. A job that wants a worker to itself."""
    return [_timing(config, config.replace(pos_encoding="nope")) for config in configs]


def _timing(config: RunConfig, plain: RunConfig) -> Timing:
    sizes = shapes(config)
    tokens = torch.zeros(config.batch_size, sizes.length, dtype=torch.int64)
    models = [build_model(own, **sizes.of_model).eval() for own in (config, plain)]
    pairs: list[list[float]] = []
    began = perf_counter()
    while len(pairs) <= PAIRS and (len(pairs) <= FEWEST or perf_counter() - began < ENOUGH):
        pairs.append([_seconds(model, tokens) for model in models])
    own, without = np.array(pairs[1:]).T  # the first warms up
    low, ratio, high = np.percentile(own / without, (25, 50, 75))
    return Timing(ratio=float(ratio), low=float(low), high=float(high), seconds=float(np.median(own)))


def _seconds(model: nn.Module, tokens: Tensor) -> float:
    began = perf_counter()
    model(tokens)
    return perf_counter() - began


def measure_all(config: RunConfig, names: Sequence[str]) -> dict[str, Timing]:
    """Time these encodings in the config's model, and remember it as this machine's."""
    found = dict(zip(names, forward_times([config.replace(pos_encoding=name) for name in names]), strict=True))
    write_whole(data_folder() / FILE, json.dumps(found))
    return found


def known_times() -> dict[str, Timing]:
    """What was measured on this machine last; empty where nothing was."""
    try:
        rows = json.loads((data_folder() / FILE).read_text())
        return {name: Timing(**{key: float(row[key]) for key in Timing.__annotations__}) for name, row in rows.items()}  # type: ignore[typeddict-item]
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}


FILE = "encoding-times.json"
