"""Measuring this machine's training speed: two short runs, one dominated by overhead and one by arithmetic."""

from __future__ import annotations

from statistics import quantiles
from time import perf_counter

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Speed, predict, remember_speed
from engine.runs.events import Progress
from engine.training.train import train

SMALL = RunConfig(steps=1000, device="cpu")
LARGE = SMALL.replace(d_model=128, n_layers=2, n_heads=4, seq_len=32)
TIMED = {SMALL: 60, LARGE: 12}
"""The number of timed steps of each run."""


def measure_speed() -> Speed:
    """Time both runs on the CPU (about a second), store the fitted speed and return it."""
    small, large = _seconds_per_step(SMALL), _seconds_per_step(LARGE)
    flops_small, flops_large = predict(SMALL).flops_per_step, predict(LARGE).flops_per_step
    layers_small, layers_large = SMALL.n_layers + 2, LARGE.n_layers + 2
    # Two equations, two unknowns: overhead * layers + flops / rate = seconds.
    inverse_rate = (large * layers_small - small * layers_large) / (
        flops_large * layers_small - flops_small * layers_large
    )
    inverse_rate = max(inverse_rate, 1e-14)
    speed = Speed(overhead=max((small - flops_small * inverse_rate) / layers_small, 1e-6), rate=1 / inverse_rate)
    remember_speed(speed)
    return speed


def _seconds_per_step(config: RunConfig) -> float:
    """Seconds of a step at the fastest tenth of a run's steps without validation: nearly independent of other load."""
    times, last = list[float](), perf_counter()
    for event in train(config):
        if isinstance(event, Progress) and event.validation is None:
            times.append(perf_counter() - last)
        if len(times) == TIMED[config]:
            break
        last = perf_counter()
    return quantiles(times, n=10)[0]
