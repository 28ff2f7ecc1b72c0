"""The cost of a model in bytes and in time: of a training step, of its state, and of one more token of a decoder."""

import math
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from time import perf_counter

import torch
from torch import Tensor, nn

from engine.estimate.prediction import predict
from engine.model.build import parameter_part
from engine.model.cached import KeyValueCache, cached_logits
from engine.model.precision import product_dtype
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of
from engine.training.measured_memory import measure_memory, state_bytes
from engine.training.optimizers import build_optimizers
from engine.training.result import Trained

ENOUGH = 0.05
"""Seconds after which no further repetition is timed, beyond the fewest."""
FEWEST, MOST = 5, 40
OWN = ("mlp", "norm", "weights")
"""Parts of a layer outside attention."""


def saved_bytes(trained: Trained) -> dict[str, float]:
    """The bytes that one training step saves for backward, counted through autograd's hooks, beside the formula's count.

    ``saved_bytes`` and, of these, ``score_bytes``; where there is a formula (:mod:`engine.estimate.memory`),
    ``saved_bytes.formula``, and ``formula_agrees``: 1 where the formula is right to the byte, else 0.
    """
    config = trained.config
    batch = trained.data.validation_batch(size=config.batch_size).to(trained.device)
    counted = measure_memory(trained.model, batch, ())
    assert counted.saved is not None
    assert counted.scores is not None
    numbers = {"saved_bytes": float(counted.saved), "score_bytes": float(counted.scores)}
    told = predict(config).memory.saved
    return numbers if told is None else numbers | {"saved_bytes.formula": told, "formula_agrees": told == counted.saved}


def step_time(trained: Trained) -> dict[str, float]:
    """``train_ms`` (forward, backward, optimizer) and ``inference_ms`` (a pass without gradient) on a batch of the run's own
    size, each the shortest of several repetitions. Measured on a copy, so that the trained weights do not change."""
    batch = trained.data.validation_batch(size=trained.config.batch_size).to(trained.device)
    model = deepcopy(trained.model)
    optimizers = build_optimizers(trained.config, model)
    train, inference = step_seconds(model, optimizers, batch)
    return {"train_ms": 1e3 * train, "inference_ms": 1e3 * inference}


def step_seconds(
    model: nn.Module, optimizers: list[torch.optim.Optimizer], batch: Batch, patience: float = math.inf
) -> tuple[float, float]:
    """Seconds of a training step and of a pass without gradient. Trains ``model``, but leaves the random state."""
    device = batch.inputs.device

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        model.train()
        train = shortest(lambda: take_step(model, optimizers, batch), device, patience)
        model.eval()
        with torch.no_grad():
            inference = shortest(lambda: forward(model, batch), device, patience)
    return train, inference


def take_step(model: nn.Module, optimizers: list[torch.optim.Optimizer], batch: Batch) -> None:
    model.zero_grad()
    loss_of(forward(model, batch).float(), batch.targets).backward()  # type: ignore[no-untyped-call]
    for optimizer in optimizers:
        optimizer.step()


def shortest(work: Callable[[], object], device: torch.device, patience: float = math.inf) -> float:
    """Seconds of the shortest of several repetitions after one warm-up, since other load on the machine only adds time. After
    ``patience`` (s) one repetition is enough."""
    work()
    times: list[float] = []
    while not times or (sum(times) < patience and (len(times) < FEWEST or (sum(times) < ENOUGH and len(times) < MOST))):
        _wait_for(device)
        began = perf_counter()
        work()
        _wait_for(device)
        times.append(perf_counter() - began)
    return min(times)


def _wait_for(device: torch.device) -> None:
    """Wait until an accelerator has finished: calls return before their work is done."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def training_state(trained: Trained) -> dict[str, float]:
    """The training state of a model: the parameters of each part, and the bytes that stay between steps.

    ``parameters.<part>`` with part in embedding, encoding, attention, mlp, norm, weights (a baseline's layers), head, and
    ``parameters.blocks`` for all between embedding and head; ``share.<part>`` of all. ``weight_bytes``, ``gradient_bytes``,
    ``optimizer_bytes``: counted from the tensors after one step on a copy. ``numbers_per_parameter``: the three together over
    the weights.
    """
    counts = count_by_part(trained.model)
    total = sum(counts.values())
    blocks = total - sum(counts[part] for part in ("embedding", "encoding", "head"))
    numbers = {f"parameters.{part}": float(count) for part, count in counts.items()}
    numbers |= {"parameters.blocks": float(blocks)} | {f"share.{part}": n / total for part, n in counts.items()}
    model = deepcopy(trained.model)
    optimizers = build_optimizers(trained.config, model)
    take_step(model.eval(), optimizers, trained.data.validation_batch(size=2).to(trained.device))
    sizes = tuple(map(float, state_bytes(model, optimizers)))
    numbers |= dict(zip(("weight_bytes", "gradient_bytes", "optimizer_bytes"), sizes, strict=True))
    return {**numbers, "numbers_per_parameter": sum(sizes) / sizes[0]}


def count_by_part(model: nn.Module) -> Counter[str]:
    counts = Counter[str]()
    for name, parameter in model.named_parameters():
        layer, _, part = parameter_part(name).rpartition(".")
        counts[part if part in OWN or not layer else "attention"] += parameter.numel()
    return counts


def kv_cache(trained: Trained) -> dict[str, float]:
    """The cost of one more token of a decoder after ``seq_len`` tokens, with and without a key-value cache.

    ``kv_cache_bytes`` of one sequence, counted from the cache: 2 x layers x tokens x heads x d_head numbers. ``cached_ms`` and
    ``recomputed_ms`` of the next token, each the shortest of several repetitions. Empty for other families.
    Source: Shazeer 2019, Fast Transformer Decoding, section 2.4.
    """
    config = trained.config
    if config.family != "decoder" or not isinstance(trained.model, Transformer):
        return {}
    model = deepcopy(trained.model).eval()
    inputs = trained.data.validation_batch(size=1).inputs.to(trained.device)
    cached = cached_step(model, inputs)
    with torch.no_grad():
        recomputed_ms = 1e3 * shortest(lambda: model(inputs), trained.device)
    cached_ms = 1e3 * shortest(cached, trained.device)
    return {"kv_cache_bytes": cached().bytes, "cached_ms": cached_ms, "recomputed_ms": recomputed_ms}


def cached_step(model: Transformer, inputs: Tensor) -> Callable[[], KeyValueCache]:
    """One more token after all but the last of ``inputs`` [batch, length], whose keys and values are cached; returns the cache."""
    config, past_shape = model.config, (inputs.size(0), model.config.n_heads, inputs.size(1) - 1)
    # The values in the cache do not affect its cost.
    past = torch.zeros(*past_shape, config.head_width, device=inputs.device, dtype=product_dtype(config))

    def step() -> KeyValueCache:
        layers = range(config.n_layers)
        cache = KeyValueCache(past.size(2), dict.fromkeys(layers, past), dict.fromkeys(layers, past))
        cached_logits(model, inputs[:, -1:], cache)
        return cache

    return step
