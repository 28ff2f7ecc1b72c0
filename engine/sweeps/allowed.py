"""The limits of a sweep: how long it may take on this host."""

from __future__ import annotations

from engine.foundation.formatting import in_time
from engine.hosting.limits import Limits
from engine.sweeps.plan import Plan

GUESS = 0.25
"""The fewest seconds of a visit: building the model, and repetitions until the times are reliable."""
FIRST, FURTHER = 6, 3
"""The seconds of a visit in training steps, in the first round (which also counts bytes) and in later ones."""
ALL_PLACES = 3
"""The steps at all places of one kind together, in steps at the slowest one. Lengths and depths double, and no step gets cheaper:
1 + 1/2 + 1/4 + ... < 2; one more because the last place may be less than twice the one before."""


def refusal(plan: Plan, limits: Limits) -> str | None:
    """The reason why this host refuses a plan, in one sentence with a value that fits; else None."""
    visits = len(plan.kinds) * len(plan.places) * plan.rounds
    steps = len(plan.kinds) * ALL_PLACES * (FIRST + FURTHER * (plan.rounds - 1))
    seconds = visits * GUESS + steps * plan.patience
    if seconds <= limits.seconds:
        return None
    fits = int((limits.seconds - visits * GUESS) / steps * 100) / 100  # rounded down to a hundredth
    advice = f"set patience to {fits:g} or less" if fits >= 0.01 else "choose fewer rounds or kinds"
    taken = f"the measurement could take {in_time(seconds)} and this host allows {in_time(limits.seconds)}"
    return f"patience is {plan.patience:g} and rounds is {plan.rounds}: {taken}; {advice}."
