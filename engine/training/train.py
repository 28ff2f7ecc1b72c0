"""``train(config)``: a generator that takes one optimizer step after another and yields an event for each; it knows no screen, no
thread and no file."""

import math
from collections.abc import Generator
from contextlib import nullcontext
from time import perf_counter

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from engine.config.run_config import RunConfig
from engine.estimate.layout import loss_floor, shapes
from engine.estimate.pieces import rows_at_once
from engine.estimate.prediction import Prediction, predict
from engine.estimate.recording import PROBE_SIZE, interim_size, snapshot_steps, validation_steps
from engine.model.build import build_model, parameter_part
from engine.runs.events import Event, Failed, Measuring, Progress, Snapshot, Started
from engine.runs.record_options import DEFAULT_RECORD, SNAPSHOT_NOW, RecordOptions
from engine.training.device import choose_device
from engine.training.evaluation import accuracies, chance_of, evaluate_in_pieces, forward, loss_of
from engine.training.failure import Found, Remedy, find_remedy, first_non_finite, non_finite_at_end
from engine.training.optimizers import learning_rate_at, set_learning_rate
from engine.training.result import MeasureByName, Trained, measured_result, nothing_to_measure_with
from engine.training.snapshot import take_snapshot
from engine.training.state import TrainingState


def prepare(config: RunConfig, prediction: Prediction | None = None) -> nn.Module:
    """The untrained model of a config, on its device. Raises ValueError where the device is missing."""
    prediction = prediction or predict(config)
    return _untrained(config, choose_device(config, prediction.flops_per_step)[0])


def begin(config: RunConfig, prediction: Prediction | None = None) -> TrainingState:
    """The state of a config's training before the first step. Raises ValueError where the device is missing."""
    prediction = prediction or predict(config)
    device, _ = choose_device(config, prediction.flops_per_step)
    return TrainingState(config, _untrained(config, device), device)


def train(
    config: RunConfig,
    model: nn.Module | None = None,
    record: RecordOptions = DEFAULT_RECORD,
    prediction: Prediction | None = None,
    measure: MeasureByName = nothing_to_measure_with,
    state: TrainingState | None = None,
) -> Generator[Event, str | None, None]:
    """Train and yield events: Started, a Progress for each step with Snapshots in between, then Finished or Failed.

    Between pieces of long work beside the steps come Measuring events, at which a caller may pause.
    ``send(SNAPSHOT_NOW)`` returns a Snapshot of the current model; ``next`` then continues.

    The training path depends on the config alone: on the same CPU the same config gives the same numbers, whatever ``record``
    asks to record; on a GPU nearly the same, since its kernels sum in a changing order. Without ``model``, the config's
    untrained one is prepared. ``prediction`` is the config's prediction where the caller has it already. ``measure`` takes
    the measurements that ``record`` names, at the end. A Failed event gives the reason and, where one was found, the setting
    that would have prevented it.

    ``state``: the state to train, from :func:`begin`, in place of ``model``. Between two events the caller may save it; with
    a saved one the training continues after the step at which it was saved, and gives the events that are left.
    """
    prediction = prediction or predict(config)
    device, note = choose_device(config, prediction.flops_per_step)
    state = state or TrainingState(config, _untrained(config, device) if model is None else model, device)
    model, data, dropout = state.model, state.data, state.dropout
    for _ in data.draw_sets():
        yield Measuring(0)
    validation = data.validation_batch().to(device)
    interim = validation if record.evaluations else validation.rows(slice(interim_size(config)))
    probe = validation.rows(slice(PROBE_SIZE))
    at_once = {
        rows: rows_at_once(config, config.seq_len, rows) for rows in map(len, (validation.inputs, interim.inputs))
    }
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    parameters = [p for _, p in named]
    validated_at = _evenly(config.steps, record.evaluations) if record.evaluations else validation_steps(config)
    snapshots_at = snapshot_steps(config) | {0} if record.snapshots else frozenset[int]()

    def snapshot(step: int) -> Snapshot:
        return take_snapshot(config, model, probe, step)

    if not data.holds_out(config.seq_len):
        note = f"{note} So few distinct sequences exist that validation repeats trained ones.".strip()
    if not state.started:
        state.started = True
        yield Started(
            parameters=sum(p.numel() for p in parameters),
            memory=prediction.memory,
            steps_per_second=prediction.steps_per_second,
            chance=chance_of(config, data),
            floor=loss_floor(config),
            device=str(device),
            note=note,
        )
    if state.step in snapshots_at and state.snapshot_step != state.step:
        state.snapshot_step = state.step
        yield snapshot(state.step)
    held_out: dict[str, float] | None = None
    if state.step == config.steps:
        held_out = yield from evaluate_in_pieces(model, validation, at_once[len(validation.inputs)], state.step)

    for step in range(state.step + 1, config.steps + 1):
        began = perf_counter()
        batch = state.next_batch()
        rate = learning_rate_at(config, step)
        set_learning_rate(state.optimizers, rate)
        with dropout.active() if dropout else nullcontext():
            logits = forward(model, batch)
            loss = loss_of(logits.float(), batch.targets)
            for parameter in parameters:  # zero_grad would walk over all modules to find them
                parameter.grad = None
            loss.backward()  # type: ignore[no-untyped-call]
        norm, loss_value = gradient_norm(parameters), loss.item()
        if not math.isfinite(norm):
            found = first_non_finite(model, batch)
            del logits, loss
            yield from _failed(state, found, step, record)
            return
        if config.grad_clip is not None:
            clip_grads_with_norm_(parameters, config.grad_clip, torch.tensor(norm, device=device))
        for optimizer in state.optimizers:
            optimizer.step()
        state.step = step
        state.busy, state.seen = state.busy + perf_counter() - began, state.seen + batch.inputs.numel()
        measured = step in validated_at
        held_out = None
        if measured:
            whole = validation if step == config.steps else interim
            held_out = yield from evaluate_in_pieces(model, whole, at_once[len(whole.inputs)], step)
        request = yield Progress(
            step=step,
            loss=loss_value,
            grad_norm=norm,
            learning_rate=rate,
            tokens_per_second=state.seen / state.busy,
            metrics=accuracies(logits.argmax(-1), batch) if measured else {},
            validation=held_out,
            grad_norms=_norms_by_part(named, config, norm) if measured else None,
        )
        while request == SNAPSHOT_NOW:
            request = yield snapshot(step)
        if step in snapshots_at:
            state.snapshot_step = step
            request = yield snapshot(step)
            while request == SNAPSHOT_NOW:
                request = yield snapshot(step)

    assert state.batch is not None
    assert held_out is not None
    if (end := non_finite_at_end(model, validation, held_out["loss"], config.batch_size)) is not None:
        yield from _failed(state, end, config.steps, record)
        return
    trained = Trained(config, model, data, device)
    yield (
        yield from measured_result(
            trained, held_out, state.batch, state.optimizers, record, state.busy, prediction, measure
        )
    )


def _failed(state: TrainingState, found: Found, step: int, record: RecordOptions) -> Generator[Event, None, None]:
    """The end of a run at a step of which a tensor, ``found`` with its layer, is not finite."""
    layer, tensor = found
    where = "" if layer is None else f" (layer {layer + 1})"
    state.optimizers.clear()  # what this run no longer needs makes room for the search
    state.model.zero_grad()
    remedy = (yield from find_remedy(state.config, step, train)) if record.remedy else Remedy()
    reason = f"Step {step}: {tensor}{where} is no longer finite. {remedy.sentence}".strip()
    yield Failed(step, reason, layer, tensor, remedy.setting)


def _untrained(config: RunConfig, device: torch.device) -> nn.Module:
    return build_model(config, **shapes(config).of_model).to(device)


def _evenly(steps: int, count: int) -> frozenset[int]:
    """About ``count`` evenly spaced steps, with the first and the last."""
    return frozenset({1, *range(0, steps, max(1, math.ceil(steps / count))), steps} - {0})


def gradient_norm(parameters: list[nn.Parameter]) -> float:
    """The global L2 norm, in float32 so that half precision does not overflow while summing.

    The squares of a gradient above 1e19 overflow float32 although the gradient itself is finite; the sum is then in float64.
    """
    grads = [p.grad if p.grad.dtype == torch.float32 else p.grad.float() for p in parameters if p.grad is not None]
    norm = float(get_total_norm(grads))
    return norm if math.isfinite(norm) else float(get_total_norm([grad.cpu().double() for grad in grads]))


def _norms_by_part(named: list[tuple[str, nn.Parameter]], config: RunConfig, total: float) -> dict[str, float]:
    """Gradient L2 norms before clipping by part ("0.q", "embedding", ...)."""
    clipped = 1.0 if config.grad_clip is None else max(1.0, total / config.grad_clip)
    parts: dict[str, list[Tensor]] = {}
    for name, parameter in named:
        if parameter.grad is not None:
            parts.setdefault(parameter_part(name), []).append(parameter.grad.float())
    norms = torch.stack([get_total_norm(grads) for grads in parts.values()]) * clipped
    if not norms.isfinite().all():
        norms = torch.stack([get_total_norm([g.cpu().double() for g in grads]) for grads in parts.values()]) * clipped
    return dict(zip(parts, norms.tolist(), strict=True))
