"""A generator that takes one optimizer step after another and yields an event for each; it knows no screen, no thread and no file."""

import math
from bisect import bisect_right
from collections.abc import Generator
from contextlib import nullcontext
from functools import partial

from torch import nn

from engine.config.run_config import RunConfig
from engine.estimate.layout import loss_floor, shapes
from engine.estimate.pieces import rows_at_once
from engine.estimate.prediction import Prediction, predict
from engine.estimate.recording import PROBE_SIZE, interim_size, snapshot_steps, validation_steps
from engine.foundation.log import LOG
from engine.model.build import build_model
from engine.model.layers import drop_encoding
from engine.model.precision import tf32_note
from engine.runs.events import Event, Failed, Measuring, Progress, Snapshot, Started
from engine.runs.record_options import AHEAD, DEFAULT_RECORD, SNAPSHOT_NOW, RecordOptions
from engine.training.captured import CapturedSteps
from engine.training.data import Batch
from engine.training.device import choose_device
from engine.training.evaluation import chance_of, evaluate_in_pieces
from engine.training.failure import Location, Remedy, find_remedy, first_non_finite, non_finite_at_end
from engine.training.recorder import Repeated, recorder_for, why_not_recorded
from engine.training.result import MeasureByName, measured_result, nothing_to_measure_with
from engine.training.snapshot import probe_tensors, snapshot_from
from engine.training.state import TrainingState
from engine.training.step_measurements import MeasuredModel, fields_of, numbers_of_step
from engine.training.steps import SingleSteps, StepProbe, trainable


def prepare(config: RunConfig, prediction: Prediction | None = None) -> nn.Module:
    """The untrained model, on its device. Raises ValueError if the device is missing."""
    device, _ = choose_device(config, prediction or predict(config))
    return build_model(config, **shapes(config).of_model).to(device)


def begin(config: RunConfig, prediction: Prediction | None = None, model: nn.Module | None = None) -> TrainingState:
    """The state of a config's training before the first step. Raises ValueError if the device is missing. ``model``: by default
    that of :func:`prepare`."""
    prediction = prediction or predict(config)
    device, _ = choose_device(config, prediction)
    model = prepare(config, prediction) if model is None else model
    return TrainingState(config, model, device, recorder_for(config, device))


def train(
    config: RunConfig,
    model: nn.Module | None = None,
    record: RecordOptions = DEFAULT_RECORD,
    prediction: Prediction | None = None,
    measure: MeasureByName = nothing_to_measure_with,
    state: TrainingState | None = None,
) -> Generator[Event, str | None, None]:
    """Train and yield events: Started, a Progress for each step with Snapshots in between, then Finished or Failed; Measuring
    between pieces of long work next to the steps. ``send(SNAPSHOT_NOW)`` returns a Snapshot of the current model; ``next`` then
    continues.

    The training path depends on the config alone: on the same CPU the same config gives the same numbers, whatever ``record`` asks
    to record; on a GPU nearly the same, since its kernels sum in a changing order. Without ``model``, the config's untrained one is
    prepared. ``prediction`` is the config's if the caller has it already. ``measure`` takes the measurements that ``record`` names,
    at the end.

    ``state``: the state to train, from :func:`begin`, instead of ``model``. Between two events the caller may save it; from a saved
    one the training continues after the step at which it was saved, and yields the remaining events.
    """
    prediction = prediction or predict(config)
    device, note = choose_device(config, prediction)
    if state is None:
        state = begin(config, prediction, model)
        if model is None:  # else the caller looks at the model after each event
            state.ahead = AHEAD
    model, data = state.model, state.data
    for _ in data.undrawn:
        yield Measuring(0)
    validation = data.validation_batch().to(device)
    interim = validation if record.evaluations else validation.rows(slice(interim_size(config)))
    probe = validation.rows(slice(PROBE_SIZE))

    def at_once(batch: Batch) -> int:
        return rows_at_once(config, config.seq_len, len(batch.inputs), on_gpu=device.type != "cpu")

    validated_at = _evenly(config.steps, record.evaluations) if record.evaluations else validation_steps(config)
    snapshots_at = snapshot_steps(config) | {0} if record.snapshots else frozenset[int]()
    in_one_piece = len(interim.inputs) <= at_once(interim)
    between = frozenset() if in_one_piece else validated_at  # validated while no step is taken
    if len(interim.inputs) < len(validation.inputs):
        between |= {config.steps}
    measured = MeasuredModel(config, model, interim if in_one_piece else None)
    step_probe = StepProbe(partial(numbers_of_step, measured), validated_at)
    dropped_after = max(1, int(config.drop_encoding_at * config.steps))
    stops = sorted(snapshots_at | between | {1, dropped_after, config.steps})

    compute_probe = partial(probe_tensors, config, model, probe)
    pass_over_probe = Repeated(state.recorder, compute_probe)

    def snapshot(step: int) -> Snapshot:
        with nullcontext() if state.recorder is None else state.recorder.active():
            return snapshot_from(config, model, probe, step, pass_over_probe())

    note = " ".join(filter(None, (note, tf32_note(config, device), why_not_recorded(config, device))))
    if not data.holds_out(config.seq_len):
        note = f"{note} So few distinct sequences exist that validation repeats trained ones.".strip()
    if not state.started:
        state.started = True
        yield Started(
            parameters=sum(p.numel() for p in trainable(model)),
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
        held_out = yield from evaluate_in_pieces(model, validation, at_once(validation), state.step)

    recorder = state.recorder
    steps = CapturedSteps(state, step_probe, recorder) if recorder else SingleSteps(state, step_probe)
    while state.step < config.steps:
        if state.step == dropped_after:
            drop_encoding(model)
            steps.close()  # what a device has recorded has the encoding in it
            pass_over_probe = Repeated(state.recorder, compute_probe)
        following = stops[bisect_right(stops, state.step)]
        for done in (yield from steps.take(min(following - state.step, state.ahead))):
            step = done.number
            if not math.isfinite(done.grad_norm):
                location = first_non_finite(model, steps.last)
                steps.close()
                yield from _failure_events(state, location, step, record)
                return
            fields = fields_of(measured, done, steps.last)
            if step in between:
                whole = validation if step == config.steps else interim
                fields["validation"] = yield from evaluate_in_pieces(model, whole, at_once(whole), step)
            held_out = fields.get("validation")
            request = yield Progress(step, done.loss, done.grad_norm, done.rate, done.tokens_per_second, **fields)
            while request == SNAPSHOT_NOW:
                request = yield snapshot(state.step)
            if step in snapshots_at:
                state.snapshot_step = step
                request = yield snapshot(step)
                while request == SNAPSHOT_NOW:
                    request = yield snapshot(step)

    assert held_out is not None
    if (end := non_finite_at_end(model, validation, held_out["loss"], config.batch_size)) is not None:
        yield from _failure_events(state, end, config.steps, record)
        return
    yield from measured_result(state, held_out, record, prediction, measure)


def warm_up(kind: str) -> None:
    # libraries and kernels are loaded at their first use, which takes seconds
    try:
        for _ in train(RunConfig(steps=4).replace(device=kind)):
            pass
    except Exception as error:  # torch raises several kinds, as for too little memory on the device
        # no more than a line: a run that uses the accelerator will say why
        LOG.warning("%s could not be warmed up: %s", kind, str(error).partition("\n")[0])


def _failure_events(
    state: TrainingState, location: Location, step: int, record: RecordOptions
) -> Generator[Event, None, None]:
    """``location``: the tensor that is not finite at that step, with its layer."""
    layer, tensor = location
    where = "" if layer is None else f" (layer {layer + 1})"
    state.optimizers.clear()  # what this run no longer needs makes room for the search
    state.model.zero_grad()
    config = state.config.replace(device=state.device.type)  # the device was decided on when the run began
    remedy = (yield from find_remedy(config, step, train)) if record.remedy else Remedy()
    reason = f"Step {step}: {tensor}{where} is no longer finite. {remedy.sentence}".strip()
    yield Failed(step, reason, layer, tensor, remedy.setting)


def _evenly(steps: int, count: int) -> frozenset[int]:
    # with the first and the last step
    return frozenset({1, *range(0, steps, max(1, math.ceil(steps / count))), steps} - {0})
