"""This machine's training speed, on a CPU core and on its accelerator, measured by a few short runs of each family, some dominated
by overhead, some by arithmetic."""

from collections.abc import Callable
from itertools import chain, combinations
from statistics import quantiles
from time import perf_counter, thread_time

import numpy as np

from engine.config.run_config import RunConfig
from engine.estimate.device import CPU
from engine.estimate.layout import shapes
from engine.estimate.prediction import predict
from engine.estimate.speed import BASELINES, BaselineSpeed, Speed, Speeds, baseline_work, remember_speeds
from engine.foundation.log import LOG, log_unsaved
from engine.runs.events import Progress
from engine.runs.record_options import LEAST_RECORD
from engine.training.device import find_accelerator
from engine.training.train import train

SMALL = RunConfig(steps=1000, device="cpu")
LARGE = SMALL.replace(d_model=128, n_layers=2, n_heads=4, seq_len=32)
# only for an accelerator, which spends its time in the others on overhead
LARGEST = SMALL.replace(d_model=256, n_layers=4, n_heads=4, seq_len=128)
BASELINE = SMALL.replace(task="k_back", batch_size=8, d_model=16, n_layers=2, seq_len=16)
# sizes at which the time goes into the step itself, into layers, into numbers, into a bit of all, and into FLOPs
BASELINE_SIZES: tuple[dict[str, int], ...] = (
    {"seq_len": 4, "n_layers": 1},
    {"n_layers": 4},
    {"batch_size": 256, "d_model": 32, "n_layers": 1},
    {"batch_size": 32, "d_model": 64, "n_layers": 2, "seq_len": 32},
    {"batch_size": 64, "d_model": 256, "n_layers": 1},
)
TIMED = {SMALL: 60, LARGE: 12}
BASELINE_TIMED = 10  # timed steps of each run on the CPU
# first steps on an accelerator, in which kernels are loaded and a graph is captured, and the timed ones after them
WARM, ON_ACCELERATOR = 20, 200
TIMING_SECONDS = 1.0  # after so much time of timed steps on an accelerator, fewer of them do
ACCELERATORS = ("cuda", "mps")

Timing = Callable[[RunConfig, int], float]  # seconds of a step of a run, of which so many steps are timed on the CPU


def measure_speed() -> Speeds:
    """Time the runs on the CPU (a few seconds), then on the accelerator if there is one; store and return the fitted speeds by kind
    of device. A line in the log says if the disk or the accelerator fails."""
    speeds: dict[str, Speed] = {CPU: _measure((SMALL, LARGE), _seconds_per_step)}
    accelerator = find_accelerator()
    if accelerator is not None and (kind := accelerator.type) in ACCELERATORS:
        try:
            speeds[kind] = _measure((SMALL, LARGE, LARGEST), lambda config, _: _seconds_there(config, kind))
        except Exception as error:  # torch raises several kinds, as for too little memory on the device
            LOG.warning("The speed of %s could not be measured: %s", kind, str(error).partition("\n")[0])
    try:
        remember_speeds(speeds)
    except OSError as error:
        log_unsaved("The speed of %s cannot be saved", "this machine", error)
    return speeds


def _measure(configs: tuple[RunConfig, ...], timing: Timing) -> Speed:
    work = [(config.n_layers + 2.0, predict(config).flops_per_step) for config in configs]
    seconds = [timing(config, TIMED.get(config, 0)) for config in configs]
    overhead, inverse_rate = not_negative(np.array(work), np.array(seconds))
    baselines = tuple(_measure_baseline(family, timing) for family in BASELINES)
    return Speed(max(overhead, 1e-6), 1 / max(inverse_rate, 1e-15), baselines)


def _measure_baseline(family: str, timing: Timing) -> BaselineSpeed:
    configs = [BASELINE.replace(family=family, **sizes) for sizes in BASELINE_SIZES]
    work = [
        baseline_work(config, predict(config).flops_per_step, config.batch_size, shapes(config).length)
        for config in configs
    ]
    seconds = [timing(config, BASELINE_TIMED) for config in configs]
    return BaselineSpeed(family, *not_negative(np.array(work), np.array(seconds)))


def not_negative(work: np.ndarray, seconds: np.ndarray) -> list[float]:
    """The prices of the kinds of work, none below zero, with the smallest sum of squared relative errors; [kind].

    ``work`` [run, kind]; ``seconds`` [run].
    """
    relative = work / seconds[:, None]
    kinds, solutions = relative.shape[1], list[tuple[float, list[float]]]()
    # few kinds: each choice of those with a price above zero is tried
    for chosen in chain.from_iterable(combinations(range(kinds), count) for count in range(1, kinds + 1)):
        columns = relative[:, chosen]
        scale = columns.max(axis=0)
        solution = np.linalg.lstsq(columns / scale, np.ones(len(seconds)), rcond=None)[0] / scale
        if (solution >= 0).all():
            prices = np.zeros(kinds)
            prices[list(chosen)] = solution
            solutions.append((float(((relative @ prices - 1) ** 2).sum()), prices.tolist()))
    return min(solutions)[1]


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


def _seconds_there(config: RunConfig, kind: str) -> float:
    ends, began = list[Progress](), perf_counter()
    last: Progress | None = None
    for event in train(config.replace(device=kind), record=LEAST_RECORD):
        if not isinstance(event, Progress):
            continue
        # it takes several steps at once, whose events come together with the speed up to the last of them: only that one's counts
        if last is not None and last.step >= WARM and last.tokens_per_second != event.tokens_per_second:
            ends.append(last)
            began = perf_counter() if len(ends) == 1 else began
        last = event
        if len(ends) > 1 and (
            ends[-1].step - ends[0].step >= ON_ACCELERATOR or perf_counter() - began > TIMING_SECONDS
        ):
            break
    first, last = ends[0], ends[-1]
    busy = last.step / last.tokens_per_second - first.step / first.tokens_per_second
    return predict(config).tokens_per_step * busy / (last.step - first.step)
