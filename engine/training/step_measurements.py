"""Measurements next to a training step. An entry of :data:`MEASUREMENTS` is some numbers on the device, and a field of ``Progress``
once they are read; all numbers of a step are read together, since each reading waits for a GPU."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn.utils import get_total_norm

from engine.config.run_config import RunConfig
from engine.model.build import parameter_part
from engine.training.data import Batch
from engine.training.evaluation import as_metrics, counts_of, pass_numbers, shares
from engine.training.steps import Numbers, Step, StepOutput


@dataclass(frozen=True)
class MeasuredModel:
    config: RunConfig
    model: nn.Module
    # the held-out batch of which a pass is measured; None if it is too large for one pass at a step
    validated: Batch | None

    @cached_property
    def _parts(self) -> list[tuple[str, nn.Parameter]]:
        return [(parameter_part(name), p) for name, p in self.model.named_parameters() if p.requires_grad]

    def gradients(self) -> dict[str, list[Tensor]]:
        """Gradients by part of the model ("0.q", "embedding", ...)."""
        parts: dict[str, list[Tensor]] = {}
        for part, parameter in self._parts:
            if parameter.grad is not None:
                parts.setdefault(part, []).append(parameter.grad)
        return parts


@dataclass(frozen=True)
class StepMeasurement:
    compute: Callable[[MeasuredModel, StepOutput], Tensor | None]
    """The numbers, [number], after the step, if there are any. Changes nothing, and does not wait for the device."""
    # the numbers by name, once they are read; of that step, on that batch
    by_name: Callable[[MeasuredModel, list[float], Step, Batch], dict[str, float]]


def _norms(run: MeasuredModel, _: StepOutput) -> Tensor:
    return torch.stack([get_total_norm([grad.float() for grad in grads]) for grads in run.gradients().values()])


def _norms_before_clipping(run: MeasuredModel, numbers: list[float], step: Step, _: Batch) -> dict[str, float]:
    parts, clip = run.gradients(), run.config.grad_clip
    clipped = 1.0 if clip is None else max(1.0, step.grad_norm / clip)
    norms = torch.tensor(numbers).float() * clipped
    if not norms.isfinite().all():  # the squares overflow float32
        norms = torch.stack([get_total_norm([g.cpu().double() for g in grads]) for grads in parts.values()]) * clipped
    return dict(zip(parts, norms.tolist(), strict=True))


def _validation(run: MeasuredModel, _: StepOutput) -> Tensor | None:
    return None if run.validated is None else pass_numbers(run.model, run.validated)


def _validation_by_name(run: MeasuredModel, numbers: list[float], _: Step, __: Batch) -> dict[str, float]:
    assert run.validated is not None, "there are numbers of it"
    return as_metrics([numbers], run.validated)


# by the field of Progress: the metrics on the training batch, the L2 norms of the gradients before clipping by part of the model,
# and the metrics on held-out sequences
MEASUREMENTS = {
    "metrics": StepMeasurement(
        lambda _, read: counts_of(read.logits.argmax(-1), read.batch).float(),
        lambda _, found, __, batch: shares(found, batch),
    ),
    "grad_norms": StepMeasurement(_norms, _norms_before_clipping),
    "validation": StepMeasurement(_validation, _validation_by_name),
}


def numbers_of_step(run: MeasuredModel, read: StepOutput) -> Numbers:
    computed = {name: one.compute(run, read) for name, one in MEASUREMENTS.items()}
    return Numbers.of({name: numbers for name, numbers in computed.items() if numbers is not None})


def fields_of(run: MeasuredModel, step: Step, batch: Batch) -> dict[str, dict[str, float]]:
    """The measurements of a step as fields of ``Progress``. ``batch``: that of the step."""
    return {
        name: MEASUREMENTS[name].by_name(run, numbers, step, batch) for name, numbers in (step.measured or {}).items()
    }
