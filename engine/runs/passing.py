"""The step at which a run's validation loss passed that of the counting models, in sentences computed from its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, inf

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.foundation.formatting import in_time
from engine.runs.events import Event, Progress


@dataclass(frozen=True)
class Passed:
    """A run compared with one counting model on the same validation windows."""

    name: str
    nats: float
    """The counting model's loss, in nats."""
    step: int | None
    """The first validated step at which the run's loss was below the counting model's; None where there is none."""
    seconds: float | None
    """Seconds of training up to that step, without the time of validation."""
    last: float
    """The run's latest validation loss, in nats."""

    @property
    def sentence(self) -> str:
        beside = f"perplexity {exp(min(self.last, 700)):.1f} against {exp(self.nats):.1f}"
        if self.step is None or self.seconds is None:
            return f"Has not passed the {self.name} ({beside})."
        now = "" if self.last < self.nats else f", but is above it again ({beside})"
        return f"Passed the {self.name} after {in_time(self.seconds)} of training, step {self.step:,}{now}."


def passed(config: RunConfig, events: Iterable[Event], levels: Mapping[str, float]) -> list[Passed]:
    """One row for each counting model, in the given order; an empty list before the first validation."""
    looks = [event for event in events if isinstance(event, Progress) and event.validation is not None]
    if not looks:
        return []
    tokens = config.batch_size * shapes(config).length
    rows = []
    for name, nats in levels.items():
        first = next((look for look in looks if _loss(look) < nats), None)
        seconds = first.step * tokens / first.tokens_per_second if first else None
        rows.append(Passed(name, nats, first.step if first else None, seconds, _loss(looks[-1])))
    return rows


def _loss(look: Progress) -> float:
    loss = (look.validation or {}).get("loss")
    return inf if loss is None else loss
