"""The steps after which a run is validated and its snapshots are taken.

Both depend on the config alone, so that a run records the same at every repetition and on every machine: densely at first, then so rarely
that recording takes a small share of the training time. Costs are in training steps: a pass without gradient takes a third of a step on as
many sequences (Kaplan et al. 2020, section 2.1).
"""

from engine.config.run_config import RunConfig
from engine.estimate.layout import generation_size, shapes, validation_size

VALIDATION_SHARE = 0.06  # of the training steps' cost, for validation during the run
SNAPSHOT_SHARE = 0.03
VALIDATIONS = range(8, 101)  # fewest and most validations of a run; the fewest may cost more than their share
SNAPSHOTS = range(12, 41)  # fewest and most snapshots of a run after the one of the untrained model
SNAPSHOT_BYTES = 64 * 2**20  # all attention patterns in the snapshots of a run, unless it has the fewest snapshots
PROBE_SIZE = 4  # held-out sequences that a snapshot shows
# upper bound of attention weights of the probe samples after the first; samples are kept whole or not at all
LARGEST_MORE = 250_000
# training steps that a pass on very few sequences costs, with the numbers read from it; measured with the default model, where it
# counts most (python -m tools.recording)
FIXED_COST = 0.6
VALIDATION_POWER, SNAPSHOT_POWER = 1.5, 2.5  # the k-th of n times is at the share (k / n) ** power of the run


def interim_size(config: RunConfig) -> int:
    return min(generation_size(config.seq_len), max(8, 2 * config.batch_size))


def validation_steps(config: RunConfig) -> frozenset[int]:
    """The steps of validations; the first and the last step of the run are among them."""
    count = VALIDATION_SHARE * config.steps / _cost(config, interim_size(config))
    return _spread(config.steps, VALIDATIONS, count, VALIDATION_POWER)


def snapshot_steps(config: RunConfig) -> frozenset[int]:
    """The steps of snapshots besides that of the untrained model; the first and the last step of the run are among them."""
    count = SNAPSHOT_SHARE * config.steps / _cost(config, PROBE_SIZE)
    if config.architecture.attends:
        pairs = config.n_layers * config.n_heads * shapes(config).length ** 2
        count = min(count, SNAPSHOT_BYTES / (4 * PROBE_SIZE * pairs))
    return _spread(config.steps, SNAPSHOTS, count, SNAPSHOT_POWER)


def samples_with_patterns(config: RunConfig) -> int:
    size = config.n_layers * config.n_heads * shapes(config).length ** 2
    return 1 + min(PROBE_SIZE - 1, LARGEST_MORE // size)


def recording_cost(config: RunConfig) -> float:
    interim = len(validation_steps(config)) * _cost(config, interim_size(config))
    snapshots = (1 + len(snapshot_steps(config))) * _cost(config, PROBE_SIZE)
    return interim + snapshots + _cost(config, validation_size(config.seq_len))


def _cost(config: RunConfig, sequences: int) -> float:
    return sequences / (3 * config.batch_size) + FIXED_COST


def _spread(steps: int, allowed: range, count: float, power: float) -> frozenset[int]:
    """About ``count`` steps, within the allowed number, dense at first; every step of a run with fewer than that."""
    if steps <= allowed[0]:
        return frozenset(range(1, steps + 1))
    n_snapshots = min(max(int(count), allowed[0]), allowed[-1])
    return frozenset({1, *(max(1, round(steps * (k / n_snapshots) ** power)) for k in range(1, n_snapshots + 1))})
