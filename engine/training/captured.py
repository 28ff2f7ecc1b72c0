"""Optimizer steps on a device that records its work: several at a time, without waiting for it in between.

A captured step is recorded once for each shape of a batch: forward pass, loss, backward pass, clipping and update. Its loss and
gradient norm go to a list on the device, which is read after a few steps. Once a norm is not finite, the device updates nothing any
more, so the weights stay those before the step that fails; that step is then taken again alone, as it is on a CPU.
"""

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_

from engine.runs.events import Measuring
from engine.runs.record_options import AHEAD
from engine.training.data import Batch
from engine.training.device import RandomStates
from engine.training.optimizers import learning_rate_at
from engine.training.recorder import Recorder, Repeated
from engine.training.state import TrainingState
from engine.training.steps import (
    Numbers,
    SingleSteps,
    Step,
    StepOutput,
    StepProbe,
    gradients,
    random_state,
    total_norm,
    trainable,
)

AHEAD_SECONDS = 0.01  # seconds of steps that are handed to a device before their numbers are read
BATCHES_PER_DRAW = 64  # batches that are drawn together: most of the work of drawing one is launching small operations
MAX_PROGRAMS = 64  # shapes of batches for which a step is recorded


Shape = tuple[tuple[str, tuple[int, ...]], ...]  # names and shapes of a batch's tensors


@dataclass(frozen=True)
class Program:
    queue: dict[str, Tensor]  # the tensors of the batches that were handed over, each [AHEAD, ...]
    staging: dict[str, Tensor]
    """The same on the CPU, from where they are copied without waiting. The copy is over before the next batches are handed over."""
    step: Repeated[tuple[StepOutput, list[Tensor | None]]]
    """Takes the step on the next batch of the queue; returns that batch with its logits, and the gradients."""
    probed: Repeated[Numbers]  # StepProbe.compute of a step that was repeated


class CapturedSteps:
    last: Batch

    def __init__(self, state: TrainingState, probe: StepProbe, recorder: Recorder) -> None:
        device = state.device
        self._state, self._probe, self._recorder = state, probe, recorder
        self._parameters = trainable(state.model)
        self._rates, self._results = torch.zeros(AHEAD, device=device), torch.zeros(2, AHEAD, device=device)
        self._staged_rates = recorder.staging(self._rates)
        # The index of the next step among those that were handed over.
        self._row = torch.zeros(1, dtype=torch.long, device=device)
        self._rate, self._failed = torch.zeros((), device=device), torch.zeros((), device=device)
        self._programs: dict[Shape, Program] = {}
        self._optimizers: list[torch.optim.Optimizer] = []
        self._grads: list[Tensor | None] = []
        self._seconds = AHEAD_SECONDS

    def take(self, most: int) -> Generator[Measuring, None, list[Step]]:
        state, began = self._state, perf_counter()
        batches = state.upcoming(min(most, AHEAD, max(1, int(AHEAD_SECONDS / self._seconds))))
        if state.optimizers is not self._optimizers:
            self._prepare(state.optimizers)
        first, random_states = state.step + 1, list[RandomStates | None]()
        rates = [learning_rate_at(state.config, first + index) for index in range(len(batches))]
        try:
            with self._recorder.active():
                programs = self._hand_over(batches, rates)
                recorded = [self._take(program, first + index, random_states) for index, program in enumerate(programs)]
            state.upcoming(2 * len(batches), BATCHES_PER_DRAW)  # while the device computes
            handed_over = perf_counter()
            yield Measuring(state.step, on_device=True)
        finally:  # the device uses these tensors, also where the caller ends the run now
            waits_from = perf_counter()
            with self._recorder.active():
                losses, norms = self._results.tolist()
        measured = [None if numbers is None else numbers.read() for numbers in recorded]
        good = next((index for index in range(len(batches)) if not math.isfinite(norms[index])), len(batches))
        end = perf_counter()
        self._seconds = (handed_over - began + end - waits_from) / len(batches)  # without the turns of other runs
        state.count(good, end - began)
        steps = [
            Step(first + i, rates[i], losses[i], norms[i], state.n_tokens / state.busy, measured[i])
            for i in range(good)
        ]
        if good < len(batches):
            steps.append(self._repeat_step(random_states[good]))
        return steps

    def close(self) -> None:
        self._programs.clear()

    def _repeat_step(self, random_states: RandomStates | None) -> Step:
        # its gradient may be finite after all: on the device its squares overflow sooner
        self._failed.zero_()
        self._grads = []
        if self._state.dropout is not None and random_states is not None:
            self._state.dropout.states = random_states
        single = SingleSteps(self._state, self._probe)
        step = single.take_one()
        self.last = single.last
        return step

    def _prepare(self, optimizers: list[torch.optim.Optimizer]) -> None:
        """Let the optimizers read their rate from the device, and skip the update if the gradient is not finite."""
        self._optimizers, self._programs = optimizers, {}
        for optimizer in optimizers:  # these two are how torch.amp.GradScaler tells a fused optimizer
            optimizer.found_inf, optimizer.grad_scale = self._failed, None  # type: ignore[attr-defined]
            for group in optimizer.param_groups:
                group |= {"lr": self._rate, "fused": True}
                if "capturable" in group:
                    group["capturable"] = self._state.device.type == "cuda"

    def _hand_over(self, batches: Sequence[Batch], rates: Sequence[float]) -> list[Program]:
        self._row.zero_()
        self._staged_rates[: len(rates)] = torch.tensor(rates)
        self._rates.copy_(self._staged_rates, non_blocking=True)
        shapes = [shape_of(batch) for batch in batches]
        for shape in dict.fromkeys(shapes):
            example = next(batch for batch, other in zip(batches, shapes, strict=True) if other == shape)
            if shape not in self._programs:
                self._programs[shape] = self._program(example)
            program = self._programs[shape]
            for name in example.tensors:
                rows = [
                    getattr(batch if other == shape else example, name)
                    for batch, other in zip(batches, shapes, strict=True)
                ]
                staged = torch.stack(rows, out=program.staging[name][: len(rows)])
                program.queue[name][: len(rows)].copy_(staged, non_blocking=True)
        return [self._programs[shape] for shape in shapes]

    def _program(self, batch: Batch) -> Program:
        device, parameters = self._state.device, self._parameters
        recorder = self._recorder if len(self._programs) < MAX_PROGRAMS else None
        queue = {
            name: torch.zeros(AHEAD, *value.shape, dtype=value.dtype, device=device)
            for name, value in batch.tensors.items()
        }

        def take() -> tuple[StepOutput, list[Tensor | None]]:
            example = batch.having({name: rows.index_select(0, self._row).squeeze(0) for name, rows in queue.items()})
            return StepOutput(example, self._step(example)), [parameter.grad for parameter in parameters]

        step = Repeated(recorder, take)
        staging = {name: self._recorder.staging(rows) for name, rows in queue.items()}
        return Program(queue, staging, step, Repeated(recorder, lambda: self._probe.compute(step.result[0])))

    def _take(self, program: Program, number: int, random_states: list[RandomStates | None]) -> Numbers | None:
        dropout, probe = self._state.dropout, self._probe
        random_states.append(None if dropout is None else dropout.states)
        with random_state(self._state):
            result = program.step()
        read, grads = result
        self.last = read.batch
        if grads is not self._grads:  # another program's, or computed anew
            self._grads = grads
            for parameter, grad in zip(self._parameters, grads, strict=True):
                parameter.grad = grad
        if number not in probe.steps:
            return None
        return program.probed().copy() if program.step.repeats(result) else probe.compute(read)

    def _step(self, batch: Batch) -> Tensor:
        config, parameters = self._state.config, self._parameters
        logits, loss = gradients(self._state.model, parameters, batch)
        norm = total_norm(parameters)
        self._failed.copy_(torch.maximum(self._failed, (~norm.isfinite()).float()))
        self._rate.copy_(self._rates.index_select(0, self._row).squeeze(0))
        if config.grad_clip is not None:
            clip_grads_with_norm_(parameters, config.grad_clip, norm)
        for optimizer in self._state.optimizers:
            optimizer.step()
        self._results.index_copy_(1, self._row, torch.stack([loss.detach(), norm])[:, None])
        self._row += 1
        return logits.detach()


def shape_of(batch: Batch) -> Shape:
    return tuple((name, tuple(value.shape)) for name, value in batch.tensors.items())
