"""What a training run says as it goes. Frozen; arrays are numpy; no torch, no screen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from engine.settings.costs import Memory


@dataclass(frozen=True)
class Started:
    """The facts known before the first step."""

    parameters: int
    memory: Memory
    steps_per_second: float | None
    chance: dict[str, float]
    """Metric name to the value of blind guessing; ``loss`` among them."""
    floor: float | None
    """The lowest loss any model can reach, in nats, where known."""
    device: str
    note: str = ""


@dataclass(frozen=True)
class Progress:
    """One optimizer step. Rows with ``validation`` also carry gradient norms by part."""

    step: int
    loss: float
    grad_norm: float
    learning_rate: float
    tokens_per_second: float
    metrics: dict[str, float] = field(default_factory=dict)
    """On the training batch."""
    validation: dict[str, float] | None = None
    """``loss`` and the task's metrics on held-out sequences."""
    grad_norms: dict[str, float] | None = None
    """``"<layer>.<part>"`` with part in q, k, v, out, mlp, norm (``weights`` and norm in a family without attention); also
    ``embedding``, ``encoding`` and ``head``."""


@dataclass(frozen=True)
class Sample:
    """One probe sequence: what was read, what was right, what was predicted; -1 where nothing is asked."""

    tokens: list[str]
    targets: list[str]
    predictions: list[str]
    source: list[str] = field(default_factory=list)
    """An encoder-decoder's source side."""

    @property
    def marks(self) -> list[bool | None]:
        return [None if t == "" else t == p for t, p in zip(self.targets, self.predictions, strict=True)]


@dataclass(frozen=True)
class Snapshot:
    """What the model looks like at one step: a separate pass over a fixed probe batch, without gradient."""

    step: int
    patterns: dict[str, np.ndarray]
    """``self``, and for an encoder-decoder ``encoder`` and ``cross``: [layer, head, query, key] of probe sample 0."""
    encoding: dict[str, np.ndarray]
    """``matrix`` (what the encoding is: [position, d], [head, query, key] or angles) and ``similarity`` [position, position]; where each
    layer has an encoding of its own these are the first layer's, and the others stand beside them (:func:`of_layer`)."""
    samples: list[Sample]
    prompt: str = ""
    """A language model's: held-out text that it was given,"""
    written: str = ""
    """and what it wrote after it."""
    more_patterns: dict[str, np.ndarray] = field(default_factory=dict)
    """The same as ``patterns`` of the probe samples after the first, as many as fit: [sample, layer, head, query, key]."""


def of_layer(name: str, layer: int) -> str:
    """The name of a layer's picture in :attr:`Snapshot.encoding`: ``matrix``, ``matrix.1``, ``matrix.2`` ..."""
    return f"{name}.{layer}" if layer else name


def layers_kept(encoding: Iterable[str]) -> int:
    """Of how many layers there are pictures under these names; 1 where all layers share an encoding."""
    return sum(name.partition(".")[0] == "matrix" for name in encoding)


@dataclass(frozen=True)
class Measuring:
    """All steps are done and the result is being measured. It only marks a place between two pieces of that work where a
    caller may do something else; it is neither stored nor sent."""

    step: int


@dataclass(frozen=True)
class Finished:
    step: int
    metrics: dict[str, float]
    """On held-out sequences of the trained length; ``loss`` among them."""
    by_length: list[dict[str, Any]]
    """One row a test length: ``length`` and the metrics, or ``note`` ("no row ...") where it cannot be run."""
    memory: Memory
    """Measured; the prediction where the run was not asked to measure it."""
    seconds: float
    measured: dict[str, float] = field(default_factory=dict)
    """What the run was asked to measure on the trained model (:mod:`engine.analysis.measurements`), by name."""


@dataclass(frozen=True)
class Failed:
    """The run met a value that is not finite, or could not be built."""

    step: int
    reason: str
    """One sentence for a person."""
    layer: int | None = None
    tensor: str | None = None
    remedy: str | None = None
    """A setting that would have prevented it, as ``name=value``."""


@dataclass(frozen=True)
class Ended:
    """How a run ended that neither finished nor failed by its own account: stopped, or its worker was lost."""

    step: int
    state: str
    reason: str = ""


ARRAYS = ("patterns", "more_patterns", "encoding")
"""The fields of a snapshot that hold arrays by name: in a file of their own, never in a line of events."""

Event = Started | Progress | Snapshot | Measuring | Finished | Failed | Ended
KINDS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Started, Progress, Snapshot, Measuring, Finished, Failed, Ended)
}


def to_json(event: Event) -> dict[str, Any]:
    """A JSON-ready dictionary with ``event`` first; values that are not finite become None; arrays are left out."""
    values = {k: v for k, v in asdict(event).items() if not (isinstance(event, Snapshot) and k in ARRAYS)}
    return {"event": type(event).__name__.lower(), **_finite(values)}


def from_json(row: dict[str, Any]) -> Event:
    """The event a row of ``events.jsonl`` was written from (a snapshot comes back without its arrays)."""
    values = dict(row)
    kind = values.pop("event")
    if "memory" in values:
        values["memory"] = Memory(**values["memory"])
    if kind == "snapshot":
        values |= {"patterns": {}, "encoding": {}, "samples": [Sample(**sample) for sample in values["samples"]]}
    return KINDS[kind](**values)  # type: ignore[no-any-return]


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return value
