"""The time of a step of the engine's own ``train``, at the sizes at which nanoGPT is timed."""

import statistics
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.estimate.prediction import predict
from engine.runs.events import Event, Failed, Progress
from engine.runs.record_options import DEFAULT_RECORD, LEAST_RECORD, RecordOptions
from engine.settings.errors import ConfigError
from engine.training.train import begin, train
from tests.benchmarks.gpu.nanogpt import PRECISIONS, Size, nanogpt
from tests.benchmarks.gpu.table import Notebook

SKIPPED = 50
"""The steps at the start of a run that are not timed, or a quarter of a shorter run."""
MIXED = "bfloat16_mixed"
LEAST_RECORDED = 600
"""The fewest steps of a run whose recording is timed, as a run of that size has: the fewest snapshots are the same for all."""
PART, OURS, OURS_MIXED = "steps", "ours", "ours, bf16 mixed"
NANOGPT, COMPILED = "nanoGPT TF32", "nanoGPT bf16, compiled"
RECORDED = "recorded / bare"


def setting_of(size: Size, steps: int, device: str, **changes: object) -> RunConfig:
    return parse({
        "task": "k_back", "family": "decoder", "pos_encoding": "learned", "d_model": size.d_model, "d_ff": 4 * size.d_model,
        "n_heads": size.n_heads, "n_layers": size.n_layers, "seq_len": size.seq_len, "batch_size": size.batch_size,
        "learning_rate": 0.001, "steps": steps, "device": device, **changes,
    })  # fmt: skip


def allowed(**changes: object) -> bool:
    """Whether there is a setting of that value."""
    try:
        parse(changes)
    except ConfigError:
        return False
    return True


def events_of(config: RunConfig, record: RecordOptions = LEAST_RECORD, *, eager: bool = False) -> Iterator[Event]:
    """The events of a run; ``eager``: with steps that are not captured. Raises RuntimeError where it fails."""
    state = None
    if eager:
        state = begin(config)
        state.recorder = None
    for event in train(config, record=record, state=state):
        if isinstance(event, Failed):
            raise RuntimeError(event.reason)
        yield event


def milliseconds(config: RunConfig, *, eager: bool = False) -> float:
    """Milliseconds of a step: the slope of a line through the moments at which the events of the steps come, of captured steps many at
    once. Left out are the first steps, and the last, whose event comes after a validation."""
    events = (event for event in events_of(config, eager=eager) if isinstance(event, Progress))
    came = [time.perf_counter() for _ in islice(events, config.steps - 1)]
    skipped = min(SKIPPED, len(came) // 4)
    return 1e3 * float(np.polyfit(np.arange(len(came) - skipped), came[skipped:], 1)[0])


def median_step(config: RunConfig, repeats: int, *, eager: bool = False) -> float:
    return statistics.median(milliseconds(config, eager=eager) for _ in range(repeats))


def spans(config: RunConfig, record: RecordOptions) -> tuple[float, float]:
    """Seconds from a run's first step to its last, and to its end."""
    came = [time.perf_counter() for event in events_of(config, record) if isinstance(event, Progress)]
    return came[-1] - came[0], time.perf_counter() - came[0]


def recorded(config: RunConfig, repeats: int) -> dict[str, float]:
    """The time of a run with everything that the lab shows over that of one with nothing recorded, the median of pairs: from the first
    step to the last, and to the end of the run with what is measured there."""
    pairs = [[spans(config, record) for record in (DEFAULT_RECORD, LEAST_RECORD)] for _ in range(repeats)]
    steps, whole = (statistics.median(shown[n] / bare[n] for shown, bare in pairs) for n in (0, 1))
    return {"recorded / bare, steps alone": steps, RECORDED: whole}


def measure_nanogpt(notes: Notebook, size: Size, steps: int, device: str, repeats: int, *, compiled: bool) -> None:
    """nanoGPT in each precision; ``compiled``: by ``torch.compile``, too."""
    n_tokens = shapes(setting_of(size, steps, device)).n_tokens
    for name in PRECISIONS:
        whole = partial(nanogpt, size, n_tokens, device, name, steps, repeats)
        notes.measure(PART, str(size), f"nanoGPT {name}", lambda whole=whole: whole()[0])
    if compiled:
        whole = partial(nanogpt, size, n_tokens, device, "bf16", steps, repeats, compiled=True)
        notes.measure(PART, str(size), COMPILED, lambda: dict(zip((COMPILED, "compiling (s)"), whole(), strict=True)))


def measure_ours(notes: Notebook, size: Size, steps: int, device: str, repeats: int, *, cpu: bool) -> None:
    """The engine's own steps; ``cpu``: on one CPU core, too."""
    config = setting_of(size, steps, device)
    note = partial(notes.measure, PART, str(size))
    note(OURS, lambda: median_step(config, repeats))
    if allowed(dtype=MIXED):
        note(OURS_MIXED, lambda: median_step(config.replace(dtype=MIXED), repeats))
    note("ours, eager", lambda: median_step(config.replace(steps=max(4, steps // 4)), repeats, eager=True))
    if cpu:
        note("ours, batch x 8", lambda: median_step(config.replace(batch_size=8 * size.batch_size), repeats))
    note(RECORDED, lambda: recorded(config.replace(steps=max(steps, LEAST_RECORDED)), repeats if cpu else 1))
    if cpu:
        note("ours, one CPU core", lambda: median_step(config.replace(device="cpu", steps=max(4, steps // 20)), 1))
    note("FLOPs", lambda: predict(config).flops_per_step)
