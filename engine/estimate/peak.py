"""The highest memory of a run, in bytes: always a number, for limits and for the choice of a process.

It is an upper bound: all that stays (weights, gradients, optimizer, a fixed training set, masks and tables by position) and the largest of
what comes one after the other: a training step, a validation pass, a snapshot, the test lengths, an answer written token by token,
sequences being drawn, weights being stored. Measurements of an experiment on the trained model have a bound of their own
(:func:`measuring_bytes`). If the memory saved for backward has a formula (:mod:`engine.estimate.memory`) the step is that formula and the
tensors that live for a moment next to it; else a bound from shapes replaces it. ``python -m tools.peak`` compares it with real
processes, in float32, bfloat16 and mixed precision.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, prod

from engine.config.run_config import RunConfig
from engine.estimate.encoding_costs import encoding_layer_bytes
from engine.estimate.layout import TESTED, Shapes, generation_size, keeps_past, shapes, validation_size, writes_answer
from engine.estimate.memory import parameter_shapes, saved_if_written_out
from engine.estimate.pieces import TOKENS_PER_DRAW, layer_bytes, pass_bytes, rows_at_once, writes_out
from engine.estimate.recording import PROBE_SIZE, samples_with_patterns
from engine.settings.costs import BYTES, INDEX, MIXED, SINGLE, WEIGHT_BYTES, Memory
from engine.tasks import TASKS

MIB = 2**20
LIBRARY_BYTES = 8 * MIB  # libraries' tables and buffers that are made at first use, whatever the run
KERNEL_BYTES = 44 * MIB  # the kernels for products in 16 bits that a worker keeps on a CPU (KERNEL_CACHE_VARIABLES)
OBJECT_BYTES = 2 * MIB  # a run's modules, its held-out sequences and its events that are not sent yet
TEXT_BYTES = 56 * MIB  # a text as tokens and counts, and the remains of reading it
# Resident memory over the tensors' bytes: the allocator keeps pieces that are too small for the next tensor. Less if all tensors
# are about as large, as a baseline's are.
SCATTERED, SCATTERED_BASELINE = 1.7, 1.2
DOUBLE = 8
# upper bound of the numbers in a snapshot: patterns of the first sample and of the others, matrices of the encoding
SNAPSHOT_NUMBERS = 3_000_000
# upper bound of the numbers that a layer of a baseline keeps for backward, for each position and dimension
ACTIVATIONS = {"gru": 10, "lstm": 19, "cnn": 7}
NODES = 32 * 1024  # bytes of the records that autograd keeps for one position of a recurrent layer, besides the numbers


def peak_bytes(config: RunConfig, sizes: Shapes, memory: Memory) -> int:
    """The highest memory of a run above that of the process before it. ``memory``: the prediction of a training step on these sizes."""
    always = always_bytes(config)
    scattered = scattered_by(config)
    step = int(scattered * step_bytes(config, sizes, memory))
    beside = int(scattered * max(*_passes(config, sizes), _drawing(config)))
    return always + max(memory.state + max(step, beside, memory.parameters), _remedy(config, memory, step))


def always_bytes(config: RunConfig) -> int:
    return _base(config) + set_bytes(config) + _masks(config) + (TEXT_BYTES if TASKS[config.task].corpus else 0)


def bytes_between_steps(config: RunConfig, memory: Memory) -> int:
    """Bytes without those that all runs of a process share."""
    return OBJECT_BYTES + always_bytes(config) - _base(config) + memory.state


def _base(config: RunConfig) -> int:
    compiled = BYTES[config.dtype] < SINGLE and config.device in ("auto", "cpu")
    return LIBRARY_BYTES + (KERNEL_BYTES if compiled else 0)


def bytes_beside(config: RunConfig, memory: Memory) -> int:
    """The host's memory that a run on a GPU takes: text and training set, sequences being drawn, and the weights while they are stored."""
    text = TEXT_BYTES if TASKS[config.task].corpus else 0
    return (
        LIBRARY_BYTES + OBJECT_BYTES + set_bytes(config) + text + int(SCATTERED * _drawing(config)) + memory.parameters
    )


def scattered_by(config: RunConfig) -> float:
    return SCATTERED if config.architecture.attends else SCATTERED_BASELINE


def _remedy(config: RunConfig, memory: Memory, step: int) -> int:
    # the remedy is at most in single precision, with AdamW, which keeps two numbers for each weight
    state = SINGLE // WEIGHT_BYTES[config.dtype]
    # a step in mixed precision counts its widest numbers already
    pass_ = 1 if config.dtype == MIXED else SINGLE // BYTES[config.dtype]
    # the weights of the failed run stay meanwhile
    return memory.parameters + state * 4 * memory.parameters + pass_ * step


def step_bytes(config: RunConfig, sizes: Shapes, memory: Memory) -> int:
    """A forward and backward pass, with the tensors of one layer or of the loss; and the optimizer's step on the largest tensor."""
    batch = config.batch_size
    largest = max(prod(shape) for _, shape in parameter_shapes(config, sizes))
    saved = memory.saved if memory.saved is not None else _saved_bound(config, sizes)
    layer = layer_bytes(config, batch, sizes.length, written_out=writes_out(config, gradient=True))
    return saved + max(layer, _loss(config, sizes.n_outputs, batch, sizes.length)) + 4 * SINGLE * largest


def _saved_bound(config: RunConfig, sizes: Shapes) -> int:
    size = WEIGHT_BYTES[config.dtype]
    tokens = config.batch_size * sizes.length
    if not config.architecture.attends:
        recurrent = config.architecture.sees(config) is None
        records = NODES * config.n_layers * sizes.length if recurrent else 0
        activations = ACTIVATIONS[config.family] * config.n_layers + 4
        return size * tokens * config.d_model * activations + SINGLE * tokens * sizes.n_outputs + records
    saved = saved_if_written_out(config, sizes)
    # A fused call that cannot be fused scales queries and keys first, and keeps the bias of each layer.
    lengths = [sizes.length, sizes.source_length or 0]
    width = config.n_heads * config.head_width
    for length in lengths:
        saved += 2 * config.n_layers * config.batch_size * length * width * size
        saved += config.n_layers * config.batch_size * config.n_heads * length**2 * size
        saved += config.n_layers * encoding_layer_bytes(config, config.batch_size, length)
    return saved


def _passes(config: RunConfig, sizes: Shapes) -> list[int]:
    """Bytes of each piece of work without gradient: last validation, test lengths, snapshot, answers written token by token."""
    n = config.seq_len
    sizes_of_passes = []
    for length, rows in ((n, validation_size(n)), *((length, TESTED) for length in config.test_lengths)):
        at_once = rows_at_once(config, length, rows)
        # Inputs, answers and targets of the sequences, and the sequences of which they are the held-out ones.
        batch = 4 * INDEX * rows * length
        read = shapes(config, length)
        sizes_of_passes.append(pass_bytes(config, read, at_once, written_out=writes_out(config)) + batch)
    attends = config.architecture.attends
    snapshot = pass_bytes(config, sizes, samples_with_patterns(config) if attends else PROBE_SIZE, written_out=attends)
    if attends:
        numbers = PROBE_SIZE * config.n_layers * config.n_heads * sizes.length**2
        snapshot += 3 * SINGLE * min(SNAPSHOT_NUMBERS, numbers + 2 * min(256, n) ** 2 * (config.n_heads + 1))
        # The stream and what heads and MLPs give, of the first sample; cross-attention is a second attention.
        kinds, positions = 1 + bool(sizes.source_length), sizes.length + (sizes.source_length or 0)
        given = 2 * config.d_model + kinds * (config.d_model + config.n_heads * config.head_width)
        snapshot += WEIGHT_BYTES[config.dtype] * config.n_layers * positions * given
    sizes_of_passes.append(snapshot)
    if writes_answer(config):
        sizes_of_passes.append(_written_bytes(config, sizes))
    return sizes_of_passes


def _written_bytes(config: RunConfig, sizes: Shapes) -> int:
    n, size = config.seq_len, BYTES[config.dtype]
    rows = rows_at_once(config, n, generation_size(n))
    if not keeps_past(config):
        return pass_bytes(config, sizes, rows, written_out=writes_out(config))
    cache = 4 * config.n_layers * rows * sizes.length * config.n_heads * config.head_width * size
    question = layer_bytes(config, rows, n, written_out=config.architecture.attends)
    return cache + question + _loss(config, sizes.n_outputs, rows, n)


def _loss(config: RunConfig, outputs: int, rows: int, length: int) -> int:
    return rows * length * (outputs * (3 * SINGLE + BYTES[config.dtype]) + 4 * INDEX)


def _masks(config: RunConfig) -> int:
    if not config.architecture.attends:
        return 0
    added = config.encoding.acts_on == "embedding"
    lengths = {config.seq_len, *(config.test_lengths if writes_out(config) or not added else ())}
    each = 2 + 2 * WEIGHT_BYTES[config.dtype] + (0 if added else 2 * INDEX)
    return sum(each * max(shapes(config, n).length, n) ** 2 for n in lengths)


def set_bytes(config: RunConfig) -> int:
    if config.dataset_size is None or TASKS[config.task].corpus:
        return 0
    return 2 * INDEX * config.dataset_size * config.seq_len


def _drawing(config: RunConfig) -> int:
    """Sequences being drawn and their hashes: ten for each held-out one, or a piece of the training set."""
    tested = ((config.seq_len, validation_size(config.seq_len)), *((n, TESTED) for n in config.test_lengths))
    piece = min(TOKENS_PER_DRAW, (config.dataset_size or config.batch_size) * config.seq_len)
    tokens = max(1.5 * max(piece, config.batch_size * config.seq_len), *(10 * rows * n for n, rows in tested))
    return int(5 * INDEX * tokens)


@dataclass(frozen=True)
class Work:
    """Upper bounds of a measurement, besides the model and its training state."""

    sequences: int = 0  # held-out sequences in a pass; 0 for as many as in a training step
    length: int = 0  # the shortest length that is read, if not the run's own
    tested: bool = False  # the test lengths are read, too
    gradient: bool = False  # a pass keeps what a backward pass needs
    written_out: bool = False  # attention writes its patterns out to be recorded, whatever the run's own does
    keeps_records: bool = False  # all that is recorded is kept, in every layer
    streams: Callable[[int], int] = lambda n_layers: 0
    """Arrays [sequence, position, d_model] in double precision besides a pass, given the number of layers. Anything computed from them
    after the pass takes less than the pass did."""
    models: int = 0  # further models, each with gradients and an optimizer
    data: bool = False  # the data of a run are made again


def measuring_bytes(config: RunConfig, memory: Memory, work: Work) -> int:
    """``memory``: the prediction of a training step."""
    rows = work.sequences or config.batch_size
    n = max(config.seq_len, work.length, *(config.test_lengths if work.tested else ()))
    smaller = config.model_copy(update={"batch_size": rows})
    sizes = shapes(config, n)
    passing = pass_bytes(smaller, sizes, rows, written_out=work.written_out or writes_out(config))
    if work.gradient:
        known = None if work.written_out or memory.saved is None else ceil(memory.saved * rows / config.batch_size)
        passing = max(passing, step_bytes(smaller, shapes(smaller), replace(memory, saved=known)))
    needed = int(scattered_by(config) * passing)
    if work.keeps_records:
        needed += _recorded_activations(config, sizes, rows)
    needed += DOUBLE * work.streams(config.n_layers) * rows * sizes.length * config.d_model
    data = set_bytes(config) if work.data else 0
    return always_bytes(config) + data + (1 + work.models) * memory.state + needed


def _recorded_activations(config: RunConfig, sizes: Shapes, rows: int) -> int:
    size = WEIGHT_BYTES[config.dtype]
    source = sizes.source_length
    lengths = [sizes.length]
    if source is not None:
        lengths += [source, max(sizes.length, source)]  # the last bounds the attention across
    numbers = 4 * config.d_model
    if config.architecture.attends:
        numbers += (3 + config.attention_gate) * config.n_heads * config.head_width
        numbers += (config.mlp_width if config.mlp else 0) + config.n_heads * config.softmax_plus_one
    matrices = 2 * config.n_heads if config.architecture.attends else 0  # scores and weights
    return size * rows * config.n_layers * sum(length * (numbers + matrices * length) for length in lengths)
