"""The events of a training run: frozen dataclasses whose arrays are numpy."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from pydantic_core import to_jsonable_python

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
    """The mean over the answers of the batch, in nats; NaN where the batch asks for none."""
    grad_norm: float
    learning_rate: float
    tokens_per_second: float
    metrics: dict[str, float] = field(default_factory=dict)
    """The task's metrics on the training batch."""
    validation: dict[str, float] | None = None
    """``loss`` and the task's metrics on held-out sequences."""
    grad_norms: dict[str, float] | None = None
    """``"<layer>.<part>"`` with part in q, k, v, out, mlp, norm (``weights`` and norm in a family without attention); also
    ``embedding``, ``encoding`` and ``head``."""


@dataclass(frozen=True)
class Sample:
    """One probe sequence: the tokens that were read, the right answers and the predictions; "" where no answer is asked."""

    tokens: list[str]
    targets: list[str]
    predictions: list[str]
    source: list[str] = field(default_factory=list)
    """The source tokens of an encoder-decoder; else empty."""

    @property
    def marks(self) -> list[bool | None]:
        return [None if t == "" else t == p for t, p in zip(self.targets, self.predictions, strict=True)]


@dataclass(frozen=True)
class Snapshot:
    """The model at one step: a separate pass over a fixed probe batch, without gradient."""

    step: int
    patterns: dict[str, np.ndarray]
    """``self``, and for an encoder-decoder ``encoder`` and ``cross``: [layer, head, query, key] of probe sample 0."""
    encoding: dict[str, np.ndarray]
    """``matrix`` (the encoding: [position, d], [head, query, key] or angles) and ``similarity`` [position, position]. Where each
    layer has an encoding of its own, these are the first layer's; further layers have names of their own (:func:`of_layer`)."""
    samples: list[Sample]
    prompt: str = ""
    """The held-out text that a language model was given; else empty."""
    written: str = ""
    """The text that a language model wrote after the prompt; else empty."""
    more_patterns: dict[str, np.ndarray] = field(default_factory=dict)
    """The patterns of the probe samples after the first, as many as fit, by the same names: [sample, layer, head, query, key]."""
    residual: dict[str, np.ndarray] = field(default_factory=dict)
    """The residual stream of probe sample 0 before the first layer and after each layer, of the stack that writes the answer: ``norm``,
    its Euclidean norm, and ``right``, the probability of the right answer if the head read it there, NaN where no answer is asked; each
    [layer + 1, position]. An encoder-decoder also has the ``encoder``'s norms."""
    contributions: dict[str, np.ndarray] = field(default_factory=dict)
    """The contribution of each part to the logit of the right answer at the positions of probe sample 0, less its mean over all classes
    (:mod:`engine.training.contributions`); NaN where no answer is asked. ``self``, and for an encoder-decoder ``cross``: its heads, [layer,
    head, position]; ``mlp`` [layer, position]; ``embedding`` and ``bias`` (all biases but those of MLPs) [position]. They add up to the
    logit less the mean of all logits. Without a skip connection the parts below it add nothing by themselves. Empty for a model without
    attention, and where a run was stored before there were contributions."""


def of_layer(name: str, layer: int) -> str:
    """The name of a layer's array in :attr:`Snapshot.encoding`: ``matrix``, ``matrix.1``, ``matrix.2`` ..."""
    return f"{name}.{layer}" if layer else name


def layers_kept(encoding: Iterable[str]) -> int:
    """The number of layers with a matrix among these names; 1 where all layers share an encoding."""
    return sum(name.partition(".")[0] == "matrix" for name in encoding)


@dataclass(frozen=True)
class Measuring:
    """Work beside the steps is being done: data are drawn, a validation goes on, the result is measured. The event marks a point
    between two pieces of it at which a caller may do something else; it is neither stored nor sent."""

    step: int
    on_device: bool = False
    """Whether a device takes steps meanwhile, by itself; the events of these follow."""


@dataclass(frozen=True)
class Finished:
    step: int
    metrics: dict[str, float]
    """Numbers measured on held-out sequences of the trained length; ``loss`` among them."""
    by_length: list[dict[str, Any]]
    """One row a test length: ``length`` and the metrics, or ``note`` ("no row ...") where it cannot be run."""
    memory: Memory
    """The measured memory; the predicted one where the run did not ask to measure it."""
    seconds: float
    measured: dict[str, float] = field(default_factory=dict)
    """The numbers of the measurements that the run asked for (:mod:`engine.analysis.measurements`), by name."""


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
    """The end of a run that neither finished nor failed: it was stopped, or its worker was lost."""

    step: int
    state: str
    reason: str = ""


ARRAYS = ("patterns", "more_patterns", "encoding", "residual", "contributions")
"""The fields of a snapshot that hold arrays by name. They are stored in a file of their own, not in the line of the event."""

Event = Started | Progress | Snapshot | Measuring | Finished | Failed | Ended
KINDS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in get_args(Event)}


def to_json(event: Event) -> dict[str, Any]:
    """A JSON-ready dictionary with ``event`` first; values that are not finite become None; arrays are left out."""
    values = {name: value for name, value in vars(event).items() if name not in ARRAYS}
    return {"event": type(event).__name__.lower(), **to_jsonable_python(values, inf_nan_mode="null")}


def from_json(row: dict[str, Any]) -> Event:
    """The event a row of ``events.jsonl`` was written from (a snapshot comes back without its arrays). Numbers that are not finite are
    missing, as where they are written. Raises KeyError, TypeError or ValueError for any other row, also where a count is missing."""
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
    """Raises TypeError or ValueError where something is no whole number from 0 on."""
    if number < 0 or number != int(number):
        raise ValueError(f"{number} is no count")
