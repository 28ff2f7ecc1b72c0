from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from pydantic_core import to_jsonable_python

from engine.settings.costs import Memory


@dataclass(frozen=True)
class Started:
    parameters: int
    memory: Memory
    steps_per_second: float | None
    chance: dict[str, float]  # the value of blind guessing by metric, "loss" among them
    floor: float | None  # the lowest loss any model can reach, in nats, if known
    device: str
    note: str = ""


@dataclass(frozen=True)
class Progress:
    """One optimizer step. Rows with ``validation`` also have gradient norms by part."""

    step: int
    loss: float  # the mean over the answers of the batch, in nats; NaN if the batch asks for none
    grad_norm: float
    learning_rate: float
    tokens_per_second: float
    metrics: dict[str, float] = field(default_factory=dict)
    validation: dict[str, float] | None = None  # loss and the task's metrics on held-out sequences
    grad_norms: dict[str, float] | None = None
    """``"<layer>.<part>"`` with part in q, k, v, out, mlp, norm (``weights`` and norm in a family without attention); also
    ``embedding``, ``encoding`` and ``head``."""


@dataclass(frozen=True)
class Sample:
    """One probe sequence: tokens, right answers and predictions; "" at positions without an answer."""

    tokens: list[str]
    targets: list[str]
    predictions: list[str]
    source: list[str] = field(default_factory=list)

    @property
    def marks(self) -> list[bool | None]:
        return [None if t == "" else t == p for t, p in zip(self.targets, self.predictions, strict=True)]


@dataclass(frozen=True)
class Snapshot:
    """The model at one step: a separate pass over a fixed probe batch, without gradient."""

    step: int
    # "self", and for an encoder-decoder "encoder" and "cross": [layer, head, query, key] of probe sample 0
    patterns: dict[str, np.ndarray]
    encoding: dict[str, np.ndarray]
    """``matrix`` (the encoding: [position, d], [head, query, key] or angles) and ``similarity`` [position, position]. If each layer
    has its own encoding, these are the first layer's, and further layers have further names (:func:`of_layer`)."""
    samples: list[Sample]
    prompt: str = ""  # the held-out text that a language model was given
    written: str = ""  # the text that it wrote after the prompt
    more_patterns: dict[str, np.ndarray] = field(default_factory=dict)
    """Patterns of the probe samples after the first, as many as fit, by the same names: [sample, layer, head, query, key]."""
    residual: dict[str, np.ndarray] = field(default_factory=dict)
    """The residual stream of probe sample 0 before the first layer and after each layer, of the stack that writes the answer:
    ``norm``, its Euclidean norm, and ``right``, the probability of the right answer if the head read it there, NaN at positions without
    an answer; each [layer + 1, position]. An encoder-decoder also has the ``encoder``'s norms."""
    contributions: dict[str, np.ndarray] = field(default_factory=dict)
    """The contribution of each part to the logit of the right answer at the positions of probe sample 0, less its mean over all
    classes (:mod:`engine.training.contributions`); NaN at positions without an answer. ``self``, and for an encoder-decoder ``cross``:
    its heads, [layer, head, position]; ``mlp`` [layer, position]; ``embedding`` and ``bias`` (all biases but those of MLPs)
    [position]. They add up to the logit less the mean of all logits. Without a skip connection the parts below it add nothing
    directly. Empty for a model without attention, and for a run stored before there were contributions."""


def of_layer(name: str, layer: int) -> str:
    """``matrix``, ``matrix.1``, ``matrix.2`` ...: the name of a layer's array in :attr:`Snapshot.encoding`."""
    return f"{name}.{layer}" if layer else name


def stored_layers(encoding: Iterable[str]) -> int:
    return sum(name.partition(".")[0] == "matrix" for name in encoding)


@dataclass(frozen=True)
class Measuring:
    """A point between two pieces of work other than steps (data, a validation, the result) at which a caller may do something else.
    It is neither stored nor sent."""

    step: int
    on_device: bool = False  # a device takes steps meanwhile; their events follow


@dataclass(frozen=True)
class Finished:
    step: int
    metrics: dict[str, float]  # on held-out sequences of the trained length; "loss" among them
    # a row for each test length: "length" and the metrics, or "note" ("no row ...") if it cannot be run
    by_length: list[dict[str, Any]]
    memory: Memory  # measured, or predicted if the run did not ask to measure it
    seconds: float
    # by name of the measurement that the run asked for (engine.analysis.measurements)
    measured: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    step: int
    reason: str
    layer: int | None = None
    tensor: str | None = None
    remedy: str | None = None  # a setting that would have prevented it, as name=value


@dataclass(frozen=True)
class Ended:
    """The end of a run that neither finished nor failed: it was stopped, or its worker was lost."""

    step: int
    state: str
    reason: str = ""


# fields of a snapshot that hold arrays by name, stored in a separate file
ARRAYS = ("patterns", "more_patterns", "encoding", "residual", "contributions")

Event = Started | Progress | Snapshot | Measuring | Finished | Failed | Ended
KINDS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in get_args(Event)}


def to_json(event: Event) -> dict[str, Any]:
    """A JSON-ready dictionary with ``event`` first; values that are not finite become None; arrays are left out."""
    values = {name: value for name, value in vars(event).items() if name not in ARRAYS}
    return {"event": type(event).__name__.lower(), **to_jsonable_python(values, inf_nan_mode="null")}


def from_json(row: dict[str, Any]) -> Event:
    """Read a row of ``events.jsonl``; a snapshot comes back without its arrays. Raises KeyError, TypeError or ValueError."""
    # numbers that are not finite are missing, as in to_json()
    values = to_jsonable_python(row, inf_nan_mode="null")
    kind = values.pop("event")
    if "memory" in values:
        values["memory"] = Memory(**values["memory"])
        _count(values["memory"].state)
    if kind == "started":
        values["chance"] = {name: value for name, value in values["chance"].items() if value is not None}
    _count(values["parameters" if kind == "started" else "step"])
    if kind == "snapshot":
        values |= {"patterns": {}, "encoding": {}, "samples": [Sample(**sample) for sample in values["samples"]]}
    return KINDS[kind](**values)  # type: ignore[no-any-return]


def _count(number: int) -> None:
    """Raises TypeError or ValueError if something is no whole number from 0 on."""
    if number < 0 or number != int(number):
        raise ValueError(f"{number} is no count")
