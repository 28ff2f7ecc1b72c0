"""Measuring this machine's training speed: a few short runs of each family, some dominated by overhead, some by arithmetic."""

from collections.abc import Iterator
from itertools import combinations
from statistics import quantiles
from time import thread_time

import numpy as np

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.estimate.prediction import predict
from engine.estimate.speed import BASELINES, BaselineSpeed, Speed, baseline_work, remember_speed
from engine.foundation.log import LOG
from engine.runs.events import Progress
from engine.runs.record_options import LEAST_RECORD
from engine.training.train import train

SMALL = RunConfig(steps=1000, device="cpu")
LARGE = SMALL.replace(d_model=128, n_layers=2, n_heads=4, seq_len=32)
BASELINE = SMALL.replace(task="k_back", batch_size=8, d_model=16, n_layers=2, seq_len=16)
BASELINE_SIZES: tuple[dict[str, int], ...] = (
    {"seq_len": 4, "n_layers": 1},
    {"n_layers": 4},
    {"batch_size": 256, "d_model": 32, "n_layers": 1},
    {"batch_size": 32, "d_model": 64, "n_layers": 2, "seq_len": 32},
    {"batch_size": 64, "d_model": 256, "n_layers": 1},
)
"""Sizes at which the time goes into the step itself, into layers, into numbers, into a bit of all, and into FLOPs."""
TIMED = {SMALL: 60, LARGE: 12}
BASELINE_TIMED = 10
"""The number of timed steps of each run."""


def measure_speed() -> Speed:
    """Time the runs on the CPU (a few seconds) and return the fitted speed. It is stored; where the disk does not take it, a line in the
    log says so."""
    small, large = (_seconds_per_step(config, TIMED[config]) for config in (SMALL, LARGE))
    flops_small, flops_large = predict(SMALL).flops_per_step, predict(LARGE).flops_per_step
    layers_small, layers_large = SMALL.n_layers + 2, LARGE.n_layers + 2
    # Two equations, two unknowns: overhead * layers + flops / rate = seconds.
    inverse_rate = (large * layers_small - small * layers_large) / (
        flops_large * layers_small - flops_small * layers_large
    )
    inverse_rate = max(inverse_rate, 1e-14)
    overhead = max((small - flops_small * inverse_rate) / layers_small, 1e-6)
    speed = Speed(overhead, 1 / inverse_rate, tuple(map(_measure_baseline, BASELINES)))
    try:
        remember_speed(speed)
    except OSError as error:
        LOG.warning("The speed of this machine could not be kept: %s", error.strerror or type(error).__name__)
    return speed


def _measure_baseline(family: str) -> BaselineSpeed:
    configs = [BASELINE.replace(family=family, **sizes) for sizes in BASELINE_SIZES]
    work = [
        baseline_work(config, predict(config).flops_per_step, config.batch_size, shapes(config).length)
        for config in configs
    ]
    seconds = [_seconds_per_step(config, BASELINE_TIMED) for config in configs]
    return BaselineSpeed(family, *not_negative(np.array(work), np.array(seconds)))


def not_negative(work: np.ndarray, seconds: np.ndarray) -> list[float]:
    """The prices of the kinds of work, none below zero, with the smallest sum of squared relative errors; [kind].

    ``work`` [run, kind]; ``seconds`` [run]. With few kinds, each choice of those with a price above zero is tried.
    """
    relative = work / seconds[:, None]
    kinds = relative.shape[1]

    def solutions() -> Iterator[tuple[float, list[float]]]:
        for count in range(1, kinds + 1):
            for chosen in combinations(range(kinds), count):
                columns = relative[:, chosen]
                scale = columns.max(axis=0)
                found = np.linalg.lstsq(columns / scale, np.ones(len(seconds)), rcond=None)[0] / scale
                if (found >= 0).all():
                    prices = np.zeros(kinds)
                    prices[list(chosen)] = found
                    yield float(((relative @ prices - 1) ** 2).sum()), prices.tolist()

    return min(solutions())[1]


def _seconds_per_step(config: RunConfig, timed: int) -> float:
    """Seconds of a step on a core at the fastest tenth of a run's steps without validation: nearly independent of other load."""
    times, last = list[float](), thread_time()
    for event in train(config, record=LEAST_RECORD):
        if isinstance(event, Progress) and event.validation is None:
            times.append(thread_time() - last)
        if len(times) == timed:
            break
        last = thread_time()
    return quantiles(times, n=10)[0]
