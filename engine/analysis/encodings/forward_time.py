"""The time of an encoding: one forward pass with it against one of the same model without.

The two alternate, so that other load on the machine affects both; each pair gives a ratio, and the pairs a median.
"""

import json
from collections.abc import Sequence
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn

from engine.analysis.encodings.jobs import Timing
from engine.analysis.encodings.times import FILE
from engine.config.run_config import RunConfig
from engine.encodings import NO_ENCODING
from engine.estimate.layout import shapes
from engine.foundation.files import data_folder, write_whole
from engine.model.build import build_model

PAIRS, FEWEST = 15, 3
ENOUGH = 2.0
"""Seconds for one encoding after which no further pair is measured, beyond the fewest: other jobs wait for this worker."""


@torch.inference_mode()
def forward_times(configs: Sequence[RunConfig]) -> list[Timing]:
    """Each config timed against the same model without encoding, on the CPU. The job needs a worker to itself."""
    return [_timing(config, config.replace(pos_encoding=NO_ENCODING)) for config in configs]


def _timing(config: RunConfig, plain: RunConfig) -> Timing:
    sizes = shapes(config)
    tokens = torch.zeros(config.batch_size, sizes.length, dtype=torch.int64)
    models = [build_model(own, **sizes.of_model).eval() for own in (config, plain)]
    pairs: list[list[float]] = []
    began = perf_counter()
    while len(pairs) <= PAIRS and (len(pairs) <= FEWEST or perf_counter() - began < ENOUGH):
        pairs.append([_seconds(model, tokens) for model in models])
    own, without = np.array(pairs[1:]).T  # the first pair is the warm-up
    low, ratio, high = np.percentile(own / without, (25, 50, 75))
    return Timing(ratio=float(ratio), low=float(low), high=float(high), seconds=float(np.median(own)))


def _seconds(model: nn.Module, tokens: Tensor) -> float:
    began = perf_counter()
    model(tokens)
    return perf_counter() - began


def measure_all(config: RunConfig, names: Sequence[str]) -> dict[str, Timing]:
    """Time these encodings in the config's model, and store the times for this machine."""
    found = dict(zip(names, forward_times([config.replace(pos_encoding=name) for name in names]), strict=True))
    write_whole(data_folder() / FILE, json.dumps(found))
    return found
