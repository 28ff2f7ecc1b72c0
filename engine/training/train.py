"""``train(config)``: a generator that takes one optimizer step after another and yields an event for each; it knows no screen, no
thread and no file."""

from __future__ import annotations

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
from engine.training.data import Data
from engine.training.device import choose_device
from engine.training.diagnose import first_non_finite
from engine.training.evaluation import accuracies, chance_of, evaluate_in_pieces, forward, loss_of
from engine.training.optimizers import build_optimizers, learning_rate_at, set_learning_rate
from engine.training.pretraining import Pretraining
from engine.training.randomness import RandomState
from engine.training.remedy import Remedy, find_remedy
from engine.training.result import measured_result
from engine.training.snapshot import take_snapshot
from engine.training.trained import MeasureByName, Trained, nothing_to_measure_with


def prepare(config: RunConfig, prediction: Prediction | None = None) -> nn.Module:
    """The untrained model of a config, on its device. Raises ValueError where the device is missing."""
    prediction = prediction or predict(config)
    return _untrained(config, choose_device(config, prediction.flops_per_step)[0])


def train(
    config: RunConfig,
    model: nn.Module | None = None,
    record: RecordOptions = DEFAULT_RECORD,
    prediction: Prediction | None = None,
    measure: MeasureByName = nothing_to_measure_with,
) -> Generator[Event, str | None, None]:
    """Train and yield events: Started, a Progress for each step with Snapshots in between, then Finished or Failed.

    Between pieces of long work beside the steps come Measuring events, at which a caller may pause.
    ``send(SNAPSHOT_NOW)`` returns a Snapshot of the current model; ``next`` then continues.

    The training path depends on the config alone: the same config gives the same numbers on the same device, whatever
    ``record`` asks to record. Without ``model``, the config's untrained one is prepared. ``prediction`` is the config's
    prediction where the caller has it already. ``measure`` takes the measurements that ``record`` names, at the end. A
    Failed event gives the reason and, where one was found, the setting that would have prevented it.
    """
    prediction = prediction or predict(config)
    device, note = choose_device(config, prediction.flops_per_step)
    model = _untrained(config, device) if model is None else model
    data = Data(config)
    for _ in data.draw_sets():
        yield Measuring(0)
    pretraining = Pretraining(config) if config.pretrain_steps else None
    optimizers = build_optimizers(config, model)
    dropout = RandomState(config.seed, device) if config.dropout or config.position_dropout else None
    validation = data.validation_batch().to(device)
    interim = validation if record.evaluations else validation.rows(slice(interim_size(config)))
    probe = validation.rows(slice(PROBE_SIZE))
    at_once = {
        rows: rows_at_once(config, config.seq_len, rows) for rows in map(len, (validation.inputs, interim.inputs))
    }
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    parameters = [p for _, p in named]
    validated_at = _evenly(config.steps, record.evaluations) if record.evaluations else validation_steps(config)
    snapshots_at = snapshot_steps(config) if record.snapshots else frozenset[int]()
    busy, seen = 0.0, 0

    def snapshot(step: int) -> Snapshot:
        return take_snapshot(config, model, probe, step)

    if not data.holds_out(config.seq_len):
        note = f"{note} So few distinct sequences exist that validation repeats trained ones.".strip()
    yield Started(
        parameters=sum(p.numel() for p in parameters),
        memory=prediction.memory,
        steps_per_second=prediction.steps_per_second,
        chance=chance_of(config, data),
        floor=loss_floor(config),
        device=str(device),
        note=note,
    )
    if record.snapshots:
        yield snapshot(0)

    for step in range(1, config.steps + 1):
        began = perf_counter()
        if pretraining is not None and step == config.pretrain_steps + 1:
            pretraining, optimizers = None, build_optimizers(config, model)
        batch = (pretraining or data).training_batch().to(device)
        rate = learning_rate_at(config, step)
        set_learning_rate(optimizers, rate)
        with dropout.active() if dropout else nullcontext():
            logits = forward(model, batch)
            loss = loss_of(logits.float(), batch.targets)
            for parameter in parameters:  # zero_grad would walk over all modules to find them
                parameter.grad = None
            loss.backward()  # type: ignore[no-untyped-call]
        norm, loss_value = gradient_norm(parameters), loss.item()
        if not math.isfinite(norm):
            layer, tensor = first_non_finite(model, batch)
            where = "" if layer is None else f" (layer {layer + 1})"
            reason = f"Step {step}: {tensor}{where} is no longer finite."
            # What this run no longer needs makes room for the search.
            del optimizers, data, batch, logits, loss, validation, interim
            model.zero_grad()
            remedy = (yield from find_remedy(config, step, train)) if record.remedy else Remedy()
            yield Failed(step, f"{reason} {remedy.sentence}".strip(), layer, tensor, remedy.setting)
            return
        if config.grad_clip is not None:
            clip_grads_with_norm_(parameters, config.grad_clip, torch.tensor(norm, device=device))
        for optimizer in optimizers:
            optimizer.step()
        busy, seen = busy + perf_counter() - began, seen + batch.inputs.numel()
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
            tokens_per_second=seen / busy,
            metrics=accuracies(logits.argmax(-1), batch) if measured else {},
            validation=held_out,
            grad_norms=_norms_by_part(named, config, norm) if measured else None,
        )
        while request == SNAPSHOT_NOW:
            request = yield snapshot(step)
        if step in snapshots_at:
            request = yield snapshot(step)
            while request == SNAPSHOT_NOW:
                request = yield snapshot(step)

    trained = Trained(config, model, data, device)
    yield (yield from measured_result(trained, held_out or {}, batch, optimizers, record, busy, prediction, measure))


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
