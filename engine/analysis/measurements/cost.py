import gc
import math
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
import psutil
import torch
from torch import Tensor, nn

from engine.analysis.encodings.jobs import Timing
from engine.config.run_config import RunConfig
from engine.encodings import NO_ENCODING
from engine.estimate.layout import keeps_past, shapes
from engine.foundation.provenance import cpu_name
from engine.model.baselines import Baseline, RecurrentState
from engine.model.build import build_model
from engine.model.key_value_cache import KeyValueCache, cached_logits
from engine.model.masks import forget_masks
from engine.model.precision import product_dtype
from engine.model.transformer import Transformer
from engine.settings.costs import Cost, MachineFacts
from engine.training.data import Batch
from engine.training.device import find_accelerator
from engine.training.evaluation import forward, loss_of
from engine.training.measured_memory import measure_memory, peak_bytes
from engine.training.optimizers import build_optimizers

TIMING_SECONDS = 0.05  # after so much time no further repetition is timed, beyond the fewest
MIN_REPETITIONS, MAX_REPETITIONS = 5, 40
# repetitions at a point that is measured in several rounds: short work is repeated often, long work once a round
REPEAT_WITHIN_SECONDS = 0.2
PAIRS, FEWEST_PAIRS = 15, 3
# for one encoding, after which no further pair is measured, beyond the fewest: other jobs wait for this worker
PAIRS_SECONDS = 2.0
REPEAT_PAIR_WITHIN_SECONDS = 0.01


def measure_cost(config: RunConfig, batch: Batch, *, memory: bool = True, patience: float = math.inf) -> Cost:
    """Measure the config's model, with initial weights, on a batch and on its device: no cost depends on the weights.

    ``memory``: measure the memory, too; ``patience``: the seconds after which one repetition is enough.
    """
    device, sizes = batch.inputs.device, shapes(config)
    longest = max(batch.inputs.size(1), sizes.position_range)
    model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=longest).to(device)
    optimizers = build_optimizers(config, model)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        model.train()
        train = shortest(lambda: _take_step(model, optimizers, batch), device, patience)
        training = measure_memory(model, batch, optimizers) if memory else None
        model.eval()
        with torch.no_grad():
            inference = shortest(lambda: forward(model, batch), device, patience)
            step = next_token(model, batch.inputs)
            return Cost(
                train,
                inference,
                cached=None if step is None else shortest(step, device, patience),
                cache_bytes=None if step is None else step(),
                memory=training,
                inference_peak=peak_bytes(lambda: forward(model, batch), device) if memory else None,
            )


def _take_step(model: nn.Module, optimizers: list[torch.optim.Optimizer], batch: Batch) -> None:
    model.zero_grad()
    loss_of(forward(model, batch).float(), batch.targets).backward()  # type: ignore[no-untyped-call]
    for optimizer in optimizers:
        optimizer.step()


def shortest(work: Callable[[], object], device: torch.device, patience: float = math.inf) -> float:
    """Seconds of the shortest of several repetitions after one warm-up, since other load on the machine only adds time. After
    ``patience`` (s) one repetition is enough."""
    work()
    times: list[float] = []
    while not times or (
        sum(times) < patience
        and (len(times) < MIN_REPETITIONS or (sum(times) < TIMING_SECONDS and len(times) < MAX_REPETITIONS))
    ):
        _wait_for(device)
        began = perf_counter()
        work()
        _wait_for(device)
        times.append(perf_counter() - began)
    return min(times)


def _wait_for(device: torch.device) -> None:
    # calls return before their work is done
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def next_token(model: Transformer | Baseline, inputs: Tensor) -> Callable[[], int] | None:
    """A function that reads the last token of ``inputs`` [batch, length] with a cache of the others, and returns the bytes of the
    cache. None for a model that keeps no cache: an encoder, a CNN."""
    if not keeps_past(model.config):
        return None
    if isinstance(model, Baseline):
        return _recurrent_step(model, inputs[:, -1:])
    return _cached_step(model, inputs) if model.config.family == "decoder" else None


def _cached_step(model: Transformer, inputs: Tensor) -> Callable[[], int]:
    config, past_shape = model.config, (inputs.size(0), model.config.key_heads, inputs.size(1) - 1)
    # The values in the cache do not affect its cost.
    past = torch.zeros(*past_shape, config.head_width, device=inputs.device, dtype=product_dtype(config))

    def step() -> int:
        layers = range(config.n_layers)
        cache = KeyValueCache(past.size(2), dict.fromkeys(layers, past), dict.fromkeys(layers, past))
        cached_logits(model, inputs[:, -1:], cache)
        return cache.bytes

    return step


def _recurrent_step(model: Baseline, token: Tensor) -> Callable[[], int]:
    def step(states: Sequence[RecurrentState]) -> list[RecurrentState]:
        return model.resume(token, states)[1]

    past = step([])  # the state after one token is as large as after many
    # A GRU's state holds one [batch, d_model], an LSTM's two.
    return lambda: sum(part.nbytes for state in step(past) if state is not None for part in state)


def measure_at(config: RunConfig, length: int, *, device: str, memory: bool) -> Cost:
    """Measure on random tokens [batch_size, length], in one of several rounds. ``device``: ``cpu`` or ``accelerator``."""
    on = _torch_device(device)
    try:
        return measure_cost(config, random_batch(config, length).to(on), memory=memory, patience=REPEAT_WITHIN_SECONDS)
    finally:
        forget_masks()
        gc.collect()
        if on.type == "cuda":
            torch.cuda.empty_cache()


def random_batch(config: RunConfig, length: int) -> Batch:
    """Random tokens and answers, both [batch_size, length]: their values do not affect the cost."""
    sizes, shape = shapes(config), (config.batch_size, length)
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(sizes.n_tokens, shape, generator=generator)
    return Batch(inputs, torch.randint(sizes.n_outputs, shape, generator=generator), {})


def _torch_device(name: str) -> torch.device:
    """Raises ValueError if there is no accelerator."""
    if name == "cpu":
        return torch.device("cpu")
    accelerator = find_accelerator()
    if accelerator is None:
        raise ValueError("device is accelerator; this machine has only a CPU.")
    return accelerator


def machine(device: str) -> MachineFacts:
    on = _torch_device(device)
    if on.type == "cuda":
        return MachineFacts(
            torch.cuda.get_device_name(on), on.type, str(torch.__version__), 1, torch.cuda.mem_get_info(on)[0]
        )
    name = cpu_name() if on.type == "cpu" else on.type
    return MachineFacts(
        name, on.type, str(torch.__version__), torch.get_num_threads(), psutil.virtual_memory().available
    )


def forward_times(configs: Sequence[RunConfig]) -> list[Timing]:
    """The time of each config's forward pass against that of the same model without encoding, on the CPU. The job needs a worker to
    itself.

    The two alternate, so that other load on the machine affects both; each pair gives a ratio, and the pairs a median.
    """
    return [_timing(config, config.replace(pos_encoding=NO_ENCODING)) for config in configs]


def _timing(config: RunConfig, plain: RunConfig) -> Timing:
    batch = random_batch(config, shapes(config).length)
    pairs: list[list[float]] = []
    began = perf_counter()
    while len(pairs) < PAIRS and (len(pairs) < FEWEST_PAIRS or perf_counter() - began < PAIRS_SECONDS):
        costs = [measure_cost(one, batch, memory=False, patience=REPEAT_PAIR_WITHIN_SECONDS) for one in (config, plain)]
        pairs.append([cost.inference for cost in costs])
    encoded, without = np.array(pairs).T
    low, ratio, high = np.percentile(encoded / without, (25, 50, 75))
    return Timing(ratio=float(ratio), low=float(low), high=float(high), seconds=float(np.median(encoded)))
