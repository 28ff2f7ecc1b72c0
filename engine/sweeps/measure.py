"""One visit of a sweep, in a worker: a model is built, timed and its memory counted, at a given length."""

import gc
from collections.abc import Callable, Sequence

import psutil
import torch
from torch import Tensor

from engine.analysis.measurements.cost import cached_step, shortest, step_seconds
from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.foundation.provenance import cpu_name
from engine.model.baselines import Baseline, Recurrent, RecurrentState
from engine.model.build import build_model
from engine.model.masks import forget_masks
from engine.model.transformer import Transformer
from engine.sweeps import KINDS
from engine.sweeps.jobs import Machine, Visit
from engine.training.data import Batch
from engine.training.device import found_accelerator
from engine.training.measured_memory import measure_memory, peak_bytes
from engine.training.optimizers import build_optimizers

MAX_SECONDS = 0.2
"""Seconds after which no further repetition is made in one visit: short work is repeated often, long work once per round."""


def visit(
    config: RunConfig, length: int, *, kind: str, place: int, round: int, device: str, count_bytes: bool
) -> Visit:
    """Measure ``config``'s model on random tokens [batch_size, length].

    ``device``: ``cpu`` or ``accelerator``. ``count_bytes``: whether to measure the memory and the size of the cache, too.
    """
    on = torch_device(device)
    try:
        return _visit(config, length, on, kind=kind, place=place, round=round, count_bytes=count_bytes)
    finally:
        forget_masks()
        gc.collect()
        if on.type == "cuda":
            torch.cuda.empty_cache()


def _visit(
    config: RunConfig, length: int, on: torch.device, *, kind: str, place: int, round: int, count_bytes: bool
) -> Visit:
    sizes = shapes(config)
    model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=length).to(on)
    batch = random_batch(config.batch_size, length, sizes.n_tokens, sizes.n_outputs).to(on)
    optimizers = build_optimizers(config, model)
    train, inference = step_seconds(model, optimizers, batch, MAX_SECONDS)
    step = next_token(model, batch.inputs) if KINDS[kind].keeps else None
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return Visit(
        kind, place, round, config.d_model, parameters, train, inference,
        cached=None if step is None else shortest(step, on, MAX_SECONDS),
        cache_bytes=None if step is None or not count_bytes else step(),
        memory=measure_memory(model, batch, optimizers) if count_bytes else None,
        inference_peak=peak_bytes(lambda: model.eval()(batch.inputs), on) if count_bytes else None,
    )  # fmt: skip


def random_batch(size: int, length: int, n_tokens: int, n_outputs: int) -> Batch:
    """Random tokens and answers, both [batch, length]: their values do not affect the cost."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(n_tokens, (size, length), generator=generator)
    return Batch(inputs, torch.randint(n_outputs, (size, length), generator=generator), {})


def next_token(model: Transformer | Baseline, inputs: Tensor) -> Callable[[], int] | None:
    """The work of one more token after all but the last of ``inputs``, with a cache; it returns the bytes of the cache. None
    for a model without a cache here."""
    if isinstance(model, Transformer):
        cached = cached_step(model.eval(), inputs)
        return lambda: cached().bytes
    return _recurrent_step(model.eval(), inputs[:, -1:]) if isinstance(model.body, Recurrent) else None


def _recurrent_step(model: Baseline, token: Tensor) -> Callable[[], int]:
    @torch.no_grad()
    def step(states: Sequence[RecurrentState]) -> list[RecurrentState]:
        return model.resume(token, states)[1]

    past = step([])  # the state after one token is as large as after many
    # A GRU's state holds one [batch, d_model], an LSTM's two.
    return lambda: sum(part.nbytes for state in step(past) if state is not None for part in state)


def torch_device(name: str) -> torch.device:
    """The torch device of ``cpu`` or ``accelerator``. Raises ValueError where there is no accelerator."""
    if name == "cpu":
        return torch.device("cpu")
    found = found_accelerator()
    if found is None:
        raise ValueError("device is accelerator; this machine has only a CPU.")
    return found


def machine(device: str) -> Machine:
    """The machine of a visit to ``cpu`` or ``accelerator``, and its free memory now."""
    on = torch_device(device)
    if on.type == "cuda":
        return Machine(
            torch.cuda.get_device_name(on), on.type, str(torch.__version__), 1, torch.cuda.mem_get_info(on)[0]
        )
    name = cpu_name() if on.type == "cpu" else on.type
    return Machine(name, on.type, str(torch.__version__), torch.get_num_threads(), psutil.virtual_memory().available)
