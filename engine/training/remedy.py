"""Settings that would have kept a failed run finite: known remedies, each tried on the very same steps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.runs.events import Event, Failed, Measuring, Progress
from engine.runs.record_options import RecordOptions
from engine.settings.errors import ConfigError
from engine.settings.fields import to_text

Train = Callable[..., Iterable[Event]]

LONGEST_TRIAL = 60
"""The highest failing step up to which remedies are tried; each trial trains again up to that step."""


REPEATED = RecordOptions(remedy=False, snapshots=False)
"""What is recorded while steps are repeated."""


@dataclass(frozen=True)
class Remedy:
    setting: str | None = None
    sentence: str = ""


def remedies(config: RunConfig) -> list[dict[str, str | float]]:
    """Settings that are known to keep a run finite, the mildest first; only those that change this config."""
    candidates: list[dict[str, str | float]] = [
        {"dtype": "float32"},
        {"grad_clip": 1.0},
        {"warmup_steps": max(20, config.steps // 10)},
        {"norm": "pre"},
        {"optimizer": "adamw"},
        {"learning_rate": config.learning_rate / 10},
        {"learning_rate": config.learning_rate / 100},
    ]
    return [c for c in candidates if all(config.value(name) != value for name, value in c.items())]


def find_remedy(config: RunConfig, step: int, train: Train) -> Generator[Measuring, None, Remedy]:
    """The first remedy under which the same steps stay finite; none is tried where the run is too long to repeat.

    Yields after each repeated step, so that a caller can do other work in between.

    ``train`` is :func:`engine.training.train.train`.
    """
    for option in remedies(config):
        name = ", ".join(f"{setting}={to_text(value)}" for setting, value in option.items())
        try:
            changed = config.replace(**option)
        except ConfigError:
            continue
        if step > LONGEST_TRIAL:
            return Remedy(name, f"Try {name} (not verified: {step} steps are too many to repeat here).")
        if (yield from _stays_finite(train(changed, record=REPEATED), step)):
            return Remedy(name, f"With {name} the same {step} steps stay finite.")
    return Remedy(sentence="None of the usual settings alone kept it finite.")


def _stays_finite(events: Iterable[Event], step: int) -> Generator[Measuring, None, bool]:
    for event in events:
        yield Measuring(step)
        if isinstance(event, Failed):
            return False
        if isinstance(event, Progress) and event.step > step:
            return True
    return True
