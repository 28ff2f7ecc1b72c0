"""The checks before a sweep and before each of its points: its needs must be within the host's limits, with room to spare."""

from collections.abc import Sequence

from engine.estimate.by_length import flops_at, memory_at
from engine.experiments.sweeps.plan import Plan
from engine.experiments.sweeps.result import Visit, onward
from engine.foundation.formatting import in_bytes, in_fine_time, in_time
from engine.serving.limits import Limits

# the fewest seconds of a visit: building the model, and repetitions until the times are reliable
MIN_VISIT_SECONDS = 0.25
# the seconds of a visit in training steps, in the first round (which also counts bytes) and in later ones
FIRST_VISIT_STEPS, FURTHER_VISIT_STEPS = 6, 3
# The steps at all ticks of one kind together, in steps at the slowest one. Lengths and depths double, and no step gets cheaper: 1
# + 1/2 + 1/4 + ... < 2; one more because the last tick may be less than twice the one before.
ALL_TICKS = 3
SPARE = 2  # the free memory must hold a point this many times
TRANSIENT = 4  # the peak of a step over the memory that it keeps, assumed until a peak has been measured
CAUTIOUS_RATE = 2e9  # FLOPs per second assumed until a point has been timed: slower than any present machine


def refusal(plan: Plan, limits: Limits) -> str | None:
    """One sentence with a value that fits; None if this host takes the plan."""
    visits = len(plan.kinds) * len(plan.ticks) * plan.rounds
    steps = len(plan.kinds) * ALL_TICKS * (FIRST_VISIT_STEPS + FURTHER_VISIT_STEPS * (plan.rounds - 1))
    seconds = visits * MIN_VISIT_SECONDS + steps * plan.patience
    if seconds <= limits.seconds:
        return None
    fits = int((limits.seconds - visits * MIN_VISIT_SECONDS) / steps * 100) / 100  # rounded down to a hundredth
    advice = f"set patience to {fits:g} or less" if fits >= 0.01 else "choose fewer rounds or kinds"
    reason = f"the measurement could take {in_time(seconds)} and this host allows {in_time(limits.seconds)}"
    return f"patience is {plan.patience:g} and rounds is {plan.rounds}: {reason}; {advice}."


def reason_not_to(plan: Plan, kind: str, tick: int, before: Sequence[Visit], room: int) -> str | None:
    """One sentence; None if the point may be started.

    ``before``: the kind's visits with measured memory, along the axis. ``room``: free bytes.
    """
    config, length = plan.config(kind, tick), plan.length_at(tick)
    sees = config.architecture.sees(config)
    if sees is not None and sees + 1 >= 4 * length:
        return f"its last layer would reach only beyond the {length} tokens there are"
    needed = needed_bytes(plan, kind, tick, before)
    if needed * SPARE > room:
        return f"it would need about {in_bytes(needed)}, and {SPARE} times that must fit in {in_bytes(room)}"
    seconds = needed_seconds(plan, kind, tick, before)
    if seconds > plan.patience:
        return f"a step would take about {in_fine_time(seconds)}; the longest allowed is {plan.patience:g} s"
    return None


def needed_bytes(plan: Plan, kind: str, tick: int, before: Sequence[Visit]) -> int:
    """The expected peak in bytes, extrapolated from the kind's peaks so far and at least the formula's total."""
    config, length = plan.config(kind, tick), plan.length_at(tick)
    memory = memory_at(config, length)
    peaks = [(v.tick, float(v.memory.peak)) for v in before if v.memory is not None and v.memory.peak is not None]
    expected = memory.total
    if expected is None:  # about forty numbers per token, width and layer
        expected = 4 * memory.parameters + 160 * config.batch_size * length * config.d_model * config.n_layers
    return int(max(expected, onward(peaks, tick) if peaks else TRANSIENT * expected))


def needed_seconds(plan: Plan, kind: str, tick: int, before: Sequence[Visit]) -> float:
    """The expected seconds of a step, extrapolated from the kind's times; with only one point, in proportion to the
    FLOPs."""

    def arithmetic(at: int) -> float:
        return flops_at(plan.config(kind, at), plan.length_at(at))

    if not before:
        return arithmetic(tick) / CAUTIOUS_RATE
    if len(before) == 1:
        return before[0].train * arithmetic(tick) / arithmetic(before[0].tick)
    return onward([(visit.tick, visit.train) for visit in before], tick)
