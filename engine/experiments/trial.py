import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from engine.runs.events import Event, Failed, Finished, Progress, Started

POINTS = 40  # of a stored curve, at most
LAST_STEPS = 10  # over which the training loss at the end is averaged

Curve = list[tuple[int, float]]


@dataclass(frozen=True)
class Trial:
    arm: str
    seed: int
    numbers: dict[str, float]
    """Finite, by name (:func:`numbers_of`)."""
    curves: dict[str, Curve] = field(default_factory=dict)
    """(step, value) of ``loss`` on the training batches, of each validation metric as ``validation.<name>``, and of the
    requested curves."""
    failure: str = ""
    """One sentence; empty if the trial finished."""

    def number(self, name: str) -> float:
        return self.numbers.get(name, math.nan)


def read_trial(arm: str, seed: int, events: Sequence[Event], curves: Sequence[str] = ()) -> Trial:
    """The trial of a run, from its events. ``curves``: gradient norms to store along training, as ``grad.<part>``."""
    last = events[-1] if events else None
    failure = "" if isinstance(last, Finished) else getattr(last, "reason", "") or "It did not finish."
    return Trial(arm, seed, numbers_of(events), curves_of(events, curves), failure)


def numbers_of(events: Sequence[Event]) -> dict[str, float]:
    """All numbers of a run by name. Numbers that are not finite, or do not exist, are left out.

    ``finite``          1 if every step was finite, else 0; always there once the run has finished or failed
    ``failed_step``     the step at which a value was not finite
    ``parameters``      the number of parameters
    ``train_loss``      mean loss on the last ten training batches
    ``gap``             validation loss minus ``train_loss`` at the end
    ``best_loss``       lowest validation loss along the run
    ``overtraining``    validation loss at the end minus ``best_loss``
    ``seconds``         seconds of training
    ``chance.loss``, ``chance.accuracy``, ...   the scores of blind guessing
    ``floor``           the lowest loss any model can reach, where known
    ``loss``, ``accuracy``, ...       held-out metrics at the end
    ``accuracy@24``, ``loss@24``      the same at a test length
    ``grad.<part>``     gradient norm by part ("0.q", "embedding") averaged over the validation passes
    The numbers of the arm's measurements have the names that each measurement gives them.
    """
    numbers: dict[str, float] = {}
    progress = [event for event in events if isinstance(event, Progress)]
    for event in events:
        match event:
            case Started():
                numbers["parameters"] = event.parameters
                numbers |= {f"chance.{name}": value for name, value in event.chance.items()}
                numbers["floor"] = math.nan if event.floor is None else event.floor
            case Failed():
                numbers |= {"finite": 0.0, "failed_step": event.step}
            case Finished():
                numbers |= event.metrics | {"finite": 1.0, "seconds": event.seconds} | event.measured
                for row in event.by_length:
                    numbers |= {f"{name}@{row['length']}": row[name] for name in event.metrics if name in row}
    if progress:
        numbers["train_loss"] = fmean(event.loss for event in progress[-LAST_STEPS:])
        measured = [event for event in progress if event.validation]
        losses = [(event.validation or {}).get("loss", math.nan) for event in measured]
        numbers["best_loss"] = min(losses, default=math.nan)
        if "loss" in numbers:
            numbers["gap"] = numbers["loss"] - numbers["train_loss"]
            numbers["overtraining"] = numbers["loss"] - numbers["best_loss"]
        norms = [event.grad_norms for event in measured if event.grad_norms]
        for part in norms[0] if norms else ():
            numbers[f"grad.{part}"] = fmean(row[part] for row in norms if part in row)
    return {name: float(value) for name, value in numbers.items() if value is not None and math.isfinite(value)}


def curves_of(events: Sequence[Event], more: Sequence[str] = ()) -> dict[str, Curve]:
    progress = [event for event in events if isinstance(event, Progress)]
    every = max(1, math.ceil(len(progress) / POINTS))
    chunks = [progress[start : start + every] for start in range(0, len(progress), every)]
    curves: dict[str, Curve] = {
        # the mean of each chunk, because single steps would make a curve of fewer points noisier
        "loss": [(chunk[-1].step, fmean(event.loss for event in chunk)) for chunk in chunks]
    }
    for event in progress:
        for name, value in (event.validation or {}).items():
            curves.setdefault(f"validation.{name}", []).append((event.step, value))
        norms = event.grad_norms or {}
        for name in more:
            if (part := name.removeprefix("grad.")) in norms:
                curves.setdefault(name, []).append((event.step, norms[part]))
    return {name: [(s, v) for s, v in curve if math.isfinite(v)] for name, curve in curves.items()}
