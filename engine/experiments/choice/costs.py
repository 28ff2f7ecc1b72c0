"""The costs of each encoding: parameters and FLOPs by formula, and the time that was measured on this machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.analysis.encodings.jobs import Timing
from engine.analysis.encodings.times import known_times
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_flops, added_parameters
from engine.experiments.choice.advice import labels
from engine.experiments.choice.qualities import NO_PARTS
from engine.experiments.comparison import DESIGN
from engine.tasks import PLAIN

MODEL = RunConfig(
    task=PLAIN, family="decoder", seq_len=128, d_model=64, n_heads=4, n_layers=2, batch_size=8, device="cpu"
)
"""The model in which parameters and FLOPs are counted and time is measured."""


@dataclass(frozen=True)
class Cost:
    """The cost of an encoding."""

    parameters: int | None
    flops: float | None
    """The added FLOPs as a share of the model's; None where the encoding does not go with this model."""
    timing: Timing | None
    """The time of a forward pass relative to no encoding; None where it was not measured on this machine."""


def costs_now(design: Mapping[str, Any] = NO_PARTS) -> dict[str, Cost]:
    """The costs of each encoding, of a design by its parts."""
    times, own = known_times(), MODEL.replace(pos_encoding=DESIGN, **design)
    models = {name: own if name == DESIGN else MODEL for name in ENCODINGS}
    timed = {name: times.get(name) for name in ENCODINGS if name != DESIGN}  # the time is that of another design
    return {
        name: Cost(added_parameters(model, name), added_flops(model, name), timed.get(name))
        for name, model in models.items()
    }


def cheapest_in_words(
    good: Sequence[str], others: Sequence[str], costs: Mapping[str, Cost], needs: Sequence[str]
) -> str:
    """Which of the good encodings cost least, or of all where none is good; where that is needed."""
    names, which = (good, "these") if good else (others, "all")
    said = []
    if "parameters" in needs:
        counts = {name: cost for name in names if (cost := costs[name].parameters) is not None}
        least = [name for name, count in counts.items() if count == min(counts.values())]
        said.append(f"The fewest extra parameters of {which} ({min(counts.values()):,}): {labels(least)}.")
    if "time" in needs:
        ratios = {name: timing["ratio"] for name in names if (timing := costs[name].timing) is not None}
        if ratios:
            fast = min(ratios, key=lambda name: ratios[name])
            ratio = f"{ratios[fast]:.2f} times that without encoding"
            said.append(f"The least forward time: {ENCODINGS[fast].label}, {ratio}.")
        else:
            said.append("The times were not measured on this machine yet.")
    return " ".join(said)
