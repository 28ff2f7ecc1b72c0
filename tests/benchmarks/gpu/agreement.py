"""Every encoding, family and task, and settings with code of their own: the losses of a few steps on the CPU and on a device, and there
captured and eager."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice

from engine.architectures import ARCHITECTURES
from engine.config.run_config import parse
from engine.encodings import ENCODINGS
from engine.runs.events import Progress
from engine.tasks import TASKS
from tests.benchmarks.gpu.steps import MIXED, allowed, events_of
from tests.benchmarks.gpu.table import Notebook

PART, ON_CPU, EAGER, TO_LOOK_AT = "agreement", "the device and the CPU", "captured and eager", "to look at"
CLOSE, CLOSE_IN_HALF, CLOSE_WHERE_DRAWN = 2e-3, 5e-2, 0.5
"""The largest relative difference of two losses that is not looked at: in float32, with bfloat16, and where the device draws random
numbers, which differ from those of the CPU."""
EXACT = {"tf32": False} if allowed(tf32=False) else {}
SMALL = {"task": "k_back", "seq_len": 16, "n_layers": 2, "n_heads": 2, "steps": 20}
SETTINGS = (
    {"mask_fault": "missing"}, {"softmax_axis": "query", "attention_impl": "materialised"},
    {"attention_score": "additive", "attention_impl": "materialised"}, {"attention_impl": "materialised"}, {"norm": "post"},
    {"optimizer": "muon"}, {"dtype": "bfloat16"}, {"dropout": 0.1}, {"share_layers": True}, {"tie_embeddings": True},
    {"randomized_positions": 4}, {"position_dropout": 0.2}, {"label_noise": 0.1},
    {"pos_encoding": "designed", "design_features": "table"}, *([{"dtype": MIXED}] if allowed(dtype=MIXED) else []),
)  # fmt: skip

Cases = Mapping[str, Mapping[str, object]]
Losses = list[float] | str
"""The loss of each step, or the reason why a run failed."""


def cases() -> Cases:
    """The settings by name."""
    found: dict[str, Mapping[str, object]] = {name: {**SMALL, "pos_encoding": name} for name in ENCODINGS}
    for name, family in ARCHITECTURES.items():
        encoding = {} if family.layer_shapes is None else {"pos_encoding": "nope"}
        found[name] = {"task": "reverse", "family": name, "steps": 20, **encoding}
    for name, task in TASKS.items():
        family = "decoder" if "decoder" in task.architectures else task.architectures[0]
        found[name] = {"task": name, "family": family, "steps": 8}
    return found | {", ".join(f"{name}={value}" for name, value in one.items()): {**SMALL, **one} for one in SETTINGS}


def losses(settings: Mapping[str, object], device: str, *, eager: bool = False) -> Losses:
    config = parse({**settings, **EXACT, "device": device})
    try:
        events = (event for event in events_of(config, eager=eager) if isinstance(event, Progress))
        return [event.loss for event in islice(events, config.steps)]
    except Exception as error:  # the other cases are compared all the same
        return f"{type(error).__name__}: {error}".splitlines()[0][:120]


def difference(one: Sequence[float] | str, other: Sequence[float] | str) -> float:
    """The largest relative difference of two losses; infinite where a run failed, has fewer steps, or a loss is not finite."""
    if isinstance(one, str) or isinstance(other, str) or len(one) != len(other):
        return math.inf
    each = [abs(a - b) / max(1e-3, abs(a)) for a, b in zip(one, other, strict=True)]
    return max(each, default=math.inf) if all(map(math.isfinite, each)) else math.inf


def closest_looked_at(settings: Mapping[str, object], *, same_device: bool) -> float:
    if not same_device and not {"dropout", "position_dropout"}.isdisjoint(settings):
        return CLOSE_WHERE_DRAWN
    return CLOSE if settings.get("dtype", "float32") == "float32" else CLOSE_IN_HALF


def compared(
    given: Cases, ones: Mapping[str, Losses], others: Mapping[str, Losses], *, same_device: bool
) -> dict[str, float | str]:
    """The cases, those to look at, the largest difference among the others, and what is to be looked at by name."""
    found = {name: difference(ones[name], others[name]) for name in given}
    far = [name for name, d in found.items() if d > closest_looked_at(given[name], same_device=same_device)]
    why = {name: [one[name] for one in (ones, others) if isinstance(one[name], str)] for name in far}
    named = "; ".join(f"{name} {found[name]:.1g} {' '.join(map(str, why[name]))}".strip() for name in far)
    near = max((d for name, d in found.items() if name not in far), default=0.0)
    return {"cases": len(found), TO_LOOK_AT: len(far), "largest difference of the others": near, "those": named}


def measure_agreement(notes: Notebook, device: str, given: Cases) -> None:
    own = {name: losses(settings, device) for name, settings in given.items()}
    eagerly = {name: losses(settings, device, eager=True) for name, settings in given.items()}
    on_cpu = {name: losses(settings, "cpu") for name, settings in given.items()}
    notes.measure(PART, ON_CPU, TO_LOOK_AT, lambda: compared(given, on_cpu, own, same_device=device == "cpu"))
    notes.measure(PART, EAGER, TO_LOOK_AT, lambda: compared(given, eagerly, own, same_device=True))
