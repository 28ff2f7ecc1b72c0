"""The highest memory of a run while a measurement is taken from its trained model, in bytes: an upper bound, as
:mod:`engine.estimate.peak` is for everything else that the run does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.estimate.passes import pass_bytes, writes_out
from engine.estimate.peak import always_bytes, scattered_by, set_bytes, step_bytes
from engine.settings.costs import BYTES, Memory

DOUBLE = 8


@dataclass(frozen=True)
class Work:
    """What a measurement holds at most at one time, besides the model and its training state."""

    sequences: int = 0
    """The number of held-out sequences in a pass; 0 for as many as in a training step."""
    length: int = 0
    """The least length for which something is made, where that is not the run's own."""
    gradient: bool = False
    """Whether a pass keeps what a backward pass needs."""
    written_out: bool = False
    """Whether attention writes its patterns out, whatever the run's own does: they are recorded."""
    kept: bool = False
    """Whether all that is recorded is kept, in every layer."""
    streams: Callable[[int], int] = lambda n_layers: 0
    """The number of arrays [sequence, position, d_model] in double precision that are held besides a pass, given the number of
    layers. What is computed from them after the pass is less than what the pass needed."""
    models: int = 0
    """The number of further models, each with gradients and an optimizer."""
    data: bool = False
    """Whether the data of a run are made anew."""


def measuring_bytes(config: RunConfig, memory: Memory, work: Work) -> int:
    """The highest memory while that work is done. ``memory``: the prediction of a training step."""
    rows = work.sequences or config.batch_size
    n = max(config.seq_len, work.length)
    own = config.model_copy(update={"batch_size": rows})
    passing = pass_bytes(own, rows, n, written_out=work.written_out or writes_out(config))
    if work.gradient:
        known = None if work.written_out or memory.saved is None else ceil(memory.saved * rows / config.batch_size)
        passing = max(passing, step_bytes(own, replace(memory, saved=known)))
    held = int(scattered_by(config) * passing)
    if work.kept:
        held += _kept(config, rows)
    held += DOUBLE * work.streams(config.n_layers) * rows * shapes(config, n).length * config.d_model
    state = memory.parameters + memory.gradients + memory.optimizer
    data = set_bytes(config) if work.data else 0
    return always_bytes(config) + data + (1 + work.models) * state + held


def _kept(config: RunConfig, rows: int) -> int:
    """The activations that the model records in every layer (:mod:`engine.model.activations`), on ``rows`` sequences."""
    sizes, size = shapes(config), BYTES[config.dtype]
    source = sizes.source_length
    lengths = [sizes.length]
    if source is not None:
        lengths += [source, max(sizes.length, source)]  # the last bounds the attention across
    numbers = 4 * config.d_model
    if config.architecture.attends:
        numbers += 3 * config.n_heads * config.head_width + (config.mlp_width if config.mlp else 0)
    matrices = 2 * config.n_heads if config.architecture.attends else 0  # scores and weights
    return size * rows * config.n_layers * sum(length * (numbers + matrices * length) for length in lengths)
