"""The events that a board has not seen yet, as plain data: one function for the event stream and for polling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.estimate.layout import metric_names
from engine.estimate.recording import interim_size
from engine.runs.events import Ended, Failed, Finished, Sample, Snapshot, Started
from engine.runs.summary import LEARNED, above_chance
from engine.tasks import TASKS
from engine.workers.processes.machines import host_of
from pages.parts.boards.live.columns import POINTS, columns_of
from pages.parts.boards.live.readable_run import ReadableRun, has_ended
from pages.parts.boards.live.snapshot_figures import cells_of, grids_of, snapshot_figures
from pages.parts.charts.base import plain_figure
from pages.parts.charts.encoding import color_of
from pages.parts.charts.gradients import gradients_figure
from pages.parts.charts.loss import accuracy_figure, loss_figure
from pages.parts.charts.memory import memory_figure

SNAPSHOTS = 60
"""The most snapshots in one message."""
BYTES = 3_000_000
"""The most bytes of the snapshots in one message."""

Payload = dict[str, Any]


def feed(run: ReadableRun, after: int, points: int = POINTS) -> tuple[Payload, int]:
    """The events from number ``after`` on as one message, and the number for the next call.

    ``columns`` are appended, ``snapshots`` added and ``figures`` (made once their facts are known) shown; ``status`` is
    always set. Event numbers are indices into ``run.events``: a call with the returned number neither skips nor
    repeats an event. Numbers outside the run are clipped.
    """
    ended = has_ended(run)
    upto = len(run.events)
    after = min(max(after, 0), upto)
    payload: Payload = {
        "after": after,
        "last": upto,
        "status": status_of(run),
        "end": ended and upto == len(run.events),
    }
    if after < upto:
        payload["columns"] = columns_of(run.events, points, after, upto)
        snapshots = map(plain_snapshot, few_of(run.events.of(Snapshot, after, upto)))
        # The arrays of old snapshots may have been deleted; a family without attention has none.
        thin = run.config.architecture.attends
        payload["snapshots"] = [snapshot for snapshot in snapshots if snapshot["patterns"] or not thin]
        payload["figures"] = dict(_figures(run, after, upto))
        if run.events.of(Started, after, upto):
            payload["milestones"] = milestones(run)
    return payload, upto


def status_of(run: ReadableRun) -> dict[str, Any]:
    """The state of the run, the machine of the cluster that trains or trained it, and the reason where it did not finish or was set
    back."""
    end = run.ending
    return {
        "state": run.state,
        "step": run.step,
        "steps": run.config.steps,
        "tokens_per_second": run.progress.tokens_per_second if run.progress else None,
        "queue_place": run.queue_place,
        "queue_seconds": run.queue_seconds,
        "machine": host_of(run.machine),
        "problem": end.reason if isinstance(end, Failed | Ended) else run.setback,
        "remedy": end.remedy if isinstance(end, Failed) else None,
    }


def few_of(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """The snapshots to send at once: the first, the latest and evenly many between."""
    if not snapshots:
        return []
    latest = snapshots[-1]
    room = max(2, min(SNAPSHOTS, BYTES // (cells_of(latest) + 1)))
    if len(snapshots) <= room:
        return list(snapshots)
    return [snapshots[round(place * (len(snapshots) - 1) / (room - 1))] for place in range(room)]


def milestones(run: ReadableRun) -> dict[str, Any]:
    """The line of the main accuracy, and the values at which it is worth a mark, by name."""
    started = run.events.of(Started)[0]
    name = metric_names(run.config)[0]
    chance = started.chance.get(name, 0.0)
    levels = {"above chance": above_chance(chance, interim_size(run.config)), "half right": 0.5, "learned": LEARNED}
    return {"column": f"validation.{name}", "levels": {name: value for name, value in levels.items() if value > chance}}


def layers_of(run: ReadableRun) -> list[str]:
    """The layers' names in gradient norms, in the order of computation."""
    shared = run.config.share_layers and run.config.architecture.attends
    numbers = [str(n) for n in range(1 if shared else run.config.n_layers)]
    return [f"e{n}" for n in numbers] + numbers if run.config.family == "encoder_decoder" else numbers


def _figures(run: ReadableRun, after: int, upto: int) -> Iterator[tuple[str, Any]]:
    """Each figure, paired with the event that determines it."""
    color, steps, text = color_of(run.config), run.config.steps, TASKS[run.config.task].corpus
    for started in run.events.of(Started, after, upto):
        levels = (started.chance.get("loss"), started.floor)
        yield "loss", plain_figure(loss_figure, steps, color, *levels, text=text)
        yield "accuracy", plain_figure(accuracy_figure, steps, color, started.chance)
        yield "gradients", plain_figure(gradients_figure, steps, layers_of(run), color)
        yield "memory", plain_figure(memory_figure, started.memory, None, color)
    for finished in run.events.of(Finished, after, upto):
        predicted = next((started.memory for started in run.events.of(Started)), None)
        yield "memory", plain_figure(memory_figure, predicted, finished.memory, color)
    snapshots = run.events.of(Snapshot, after, upto)
    if snapshots and not run.events.of(Snapshot, 0, after):
        yield from snapshot_figures(run.config, snapshots[0]).items()


def plain_snapshot(event: Snapshot) -> dict[str, Any]:
    """A snapshot as plain data: its samples, its texts, and its arrays as grids."""
    samples = [_sample(sample) for sample in event.samples]
    return {"step": event.step, "samples": samples, "prompt": event.prompt, "written": event.written, **grids_of(event)}


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "source": sample.source,
        "tokens": sample.tokens,
        "targets": sample.targets,
        "predictions": sample.predictions,
        "marks": sample.marks,
    }
