"""The time of an encoding: one forward pass with it against one of the same model without.

The two alternate, so that other load on the machine affects both; each pair gives a ratio, and the pairs a median. Counted are seconds of
the processor: while other processes have it, none pass.
"""

from collections.abc import Sequence
from time import process_time

import numpy as np
import torch
from torch import Tensor, nn

from engine.analysis.encodings.jobs import Timing
from engine.config.run_config import RunConfig
from engine.encodings import NO_ENCODING
from engine.estimate.layout import shapes
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
    began = process_time()
    while len(pairs) <= PAIRS and (len(pairs) <= FEWEST or process_time() - began < ENOUGH):
        pairs.append([_seconds(model, tokens) for model in models])
    own, without = np.array(pairs[1:]).T  # the first pair is the warm-up
    low, ratio, high = np.percentile(own / without, (25, 50, 75))
    return Timing(ratio=float(ratio), low=float(low), high=float(high), seconds=float(np.median(own)))


def _seconds(model: nn.Module, tokens: Tensor) -> float:
    began = process_time()
    model(tokens)
    return process_time() - began
