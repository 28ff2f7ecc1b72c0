"""The new events for a board as JSON: one function for the event stream and for polling."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from engine.analysis.attention.attribution import attribute_answers
from engine.analysis.attention.path import AnswerLayer, Path
from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names
from engine.estimate.recording import interim_size
from engine.estimate.warnings import leak_of
from engine.runs.events import Ended, Failed, Finished, Snapshot, Started, stored_layers
from engine.runs.summary import LEARNED_ACCURACY, above_chance
from engine.serving.processes.machines import host_of
from engine.tasks import TASKS
from pages.parts.boards.live.columns import columns_of
from pages.parts.boards.live.readable_run import ReadableRun
from pages.parts.charts.attention import mosaic_figure, pattern_figure
from pages.parts.charts.base import figure_json
from pages.parts.charts.colors import color_of
from pages.parts.charts.costs import memory_figure
from pages.parts.charts.encoding import live_matrix_figure, live_similarity_figure
from pages.parts.charts.heat import MAX_DRAWN_CELLS, Grid, coarsen, grid
from pages.parts.charts.loss import accuracy_figure, gradients_figure, loss_figure

SNAPSHOTS = 60  # at most, in one message
MAX_SNAPSHOT_BYTES = 3_000_000
ARRAY_FIELDS = ("patterns", "encoding", "residual", "contributions")  # of a snapshot, needed by its message
BYTES_OF_A_NUMBER = 8  # of the residual stream
PATH = 700  # bytes of the path of one answer
MEANS = 96
"""The last positions, where the answers are: those with paths, and with the mean attention of a layer's heads, if the
heads themselves are sent in blocks."""
AnswerPaths = tuple[list[Path | None], AnswerLayer | None]
"""The paths of a snapshot's answers, with the links that they need, and the layer of arrival."""

Payload = dict[str, Any]


def updates_after(run: ReadableRun, after: int) -> tuple[Payload, int]:
    """Return the events from number ``after`` on as one message, and the number for the next call.

    The board appends ``columns``, adds ``snapshots`` and shows ``figures`` (made once their facts are known);
    ``status`` is always present. Event numbers are indices into ``run.events``: a call with the returned number neither
    skips nor repeats an event. Numbers outside the run are clipped.
    """
    is_over, upto = not run.live, len(run.events)
    after = min(max(after, 0), upto)
    payload: Payload = {
        "after": after,
        "last": upto,
        "status": status_of(run),
        "end": is_over and upto == len(run.events),
    }
    if after < upto:
        payload["columns"] = columns_of(run.events, after, upto)
        snapshots = map(snapshot_json, few_of(run.events.of(Snapshot, after, upto)))
        # The arrays of old snapshots may have been deleted; a family without attention has none.
        thin = run.config.architecture.attends
        payload["snapshots"] = [snapshot for snapshot in snapshots if snapshot["patterns"] or not thin]
        payload["figures"] = dict(_figures(run, after, upto))
        if run.events.of(Started, after, upto):
            payload["milestones"] = milestones(run)
    return payload, upto


def status_of(run: ReadableRun) -> dict[str, Any]:
    end = run.ending
    return {
        "state": run.state, "step": run.step, "steps": run.config.steps,
        "tokens_per_second": run.progress.tokens_per_second if run.progress else None,
        "queue_position": run.queue_position, "queue_seconds": run.queue_seconds, "machine": host_of(run.machine),
        "problem": end.reason if isinstance(end, Failed | Ended) else run.setback,
    }  # fmt: skip


def few_of(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """Return the snapshots to send at once: the first, the latest and evenly many between."""
    if not snapshots:
        return []
    latest = snapshots[-1]
    room = max(2, min(SNAPSHOTS, MAX_SNAPSHOT_BYTES // (cells_of(latest) + 1)))
    if len(snapshots) <= room:
        return list(snapshots)
    return [snapshots[round(index * (len(snapshots) - 1) / (room - 1))] for index in range(room)]


def milestones(run: ReadableRun) -> dict[str, Any]:
    """Return the line of the main accuracy, and the values that get a mark, by name."""
    started = run.events.of(Started)[0]
    name = metric_names(run.config)[0]
    chance = started.chance.get(name, 0.0)
    levels = {"above chance": above_chance(chance, interim_size(run.config)), "half right": 0.5}
    if not leak_of(run.config):  # else a good score shows the leak
        levels["learned"] = LEARNED_ACCURACY
    return {"column": f"validation.{name}", "levels": {name: value for name, value in levels.items() if value > chance}}


def gradient_layers(run: ReadableRun) -> list[str]:
    shared = run.config.share_layers and run.config.architecture.attends
    numbers = [str(n) for n in range(1 if shared else run.config.n_layers)]
    return [f"e{n}" for n in numbers] + numbers if run.config.family == "encoder_decoder" else numbers


def _figures(run: ReadableRun, after: int, upto: int) -> Iterator[tuple[str, Any]]:
    color, steps, text = color_of(run.config), run.config.steps, TASKS[run.config.task].corpus
    for started in run.events.of(Started, after, upto):
        levels = (started.chance.get("loss"), started.floor)
        yield "loss", figure_json(loss_figure, steps, color, *levels, text=text)
        yield "accuracy", figure_json(accuracy_figure, steps, color, started.chance)
        yield "gradients", figure_json(gradients_figure, steps, gradient_layers(run), color)
        yield "memory", figure_json(memory_figure, started.memory, None, color)
    for finished in run.events.of(Finished, after, upto):
        predicted = next((started.memory for started in run.events.of(Started)), None)
        yield "memory", figure_json(memory_figure, predicted, finished.memory, color)
    snapshots = run.events.of(Snapshot, after, upto)
    if snapshots and not run.events.of(Snapshot, 0, after):
        yield from snapshot_figures(run.config, snapshots[0]).items()


def snapshot_json(event: Snapshot, linked: AnswerPaths | None = None) -> dict[str, Any]:
    """Return a snapshot as JSON: its samples, its texts, and its arrays as grids. ``linked``: paths from an analysis
    with the model's weights."""
    parts = ("source", "tokens", "targets", "predictions", "marks")
    samples = [{part: getattr(sample, part) for part in parts} for sample in event.samples]
    arrays: dict[str, Any] = {name: dict(getattr(event, name).items()) for name in ARRAY_FIELDS}
    event = replace(event, **arrays)  # a stored snapshot's are read once
    content = {"step": event.step, "samples": samples, "prompt": event.prompt, "written": event.written}
    return {**content, "residual": residual_of(event), **paths_json(event, linked), **grids_of(event)}


def paths_json(snapshot: Snapshot, linked: AnswerPaths | None = None) -> dict[str, Any]:
    """Return ``paths``, for the answer at each position of the first sample the path in the picture, None if unknown,
    and ``answer_layer``, where most answers arise. Links are named only if they are known to be needed."""
    answer_paths, answer_layer = linked or attribute_answers(snapshot)
    paths = [
        path and {
            "arrives": path.arrives, "layer": path.layer, "contributor": path.contributor if linked else "",
            "readings": [asdict(one) | {"weight": round(one.weight, 3)} for one in path.readings if linked],
            "words": [asdict(one) for one in (path.words if linked else path.answer_layer_words)],
        }
        for path in answer_paths
    ]  # fmt: skip
    return {"paths": [None] * len(paths[:-MEANS]) + paths[-MEANS:], "answer_layer": answer_layer and answer_layer.name}


def residual_of(snapshot: Snapshot) -> dict[str, list[list[float | None]]]:
    """Return the residual stream of the first sample with five digits, [layer + 1, position] by name; None where no
    answer is asked."""

    def rounded(value: float) -> float | None:
        return float(f"{value:.5g}") if math.isfinite(value) else None

    return {
        name: [[rounded(value) for value in row] for row in array.tolist()] for name, array in snapshot.residual.items()
    }


def grids_of(snapshot: Snapshot) -> dict[str, dict[str, Grid]]:
    """Return ``patterns`` [layer, head, query, key] by kind, ``encoding`` by name; weights and cosines on fixed scales.
    ``means`` [layer, query, key]: the mean of a layer's heads by kind, of the last positions, if the patterns are in
    blocks.

    The similarity of a bias is its mean over the heads, which may leave the range from -1 to 1 of a cosine: so its
    scale is sent, too.
    """
    room = _room(snapshot.encoding)
    patterns = {which: grid(pattern, 0.0, 1.0) for which, pattern in snapshot.patterns.items()}
    return {
        "patterns": patterns,
        "means": {
            which: grid(last.mean(axis=1), 0.0, 1.0)
            for which, pattern in snapshot.patterns.items()
            if patterns[which]["block"] != [1, 1] and (last := last_of(pattern, snapshot, which)).size
        },
        "encoding": {
            name: grid(array, *_ends(array), room) if name.startswith("similarity") else grid(array, cells=room)
            for name, array in snapshot.encoding.items()
        },
    }


def last_of(pattern: np.ndarray, snapshot: Snapshot, which: str) -> np.ndarray:
    """Return the pattern of the last positions, as far as it was stored: the patterns of a long sequence are truncated."""
    first_query, first_key = (max(0, len(symbols) - MEANS) for symbols in symbols_of(snapshot, which))
    return pattern[..., first_query:, first_key:]


def _ends(similarity: np.ndarray) -> tuple[float, float]:
    finite = np.nan_to_num(similarity)
    return min(-1.0, float(finite.min())), max(1.0, float(finite.max()))


def cells_of(snapshot: Snapshot) -> int:
    """Return the most bytes of its arrays: a grid has one per cell."""
    pictures = dict(snapshot.encoding.items())
    patterns = sum(min(array.size, MAX_DRAWN_CELLS) for array in snapshot.patterns.values())
    patterns += sum(BYTES_OF_A_NUMBER * array.size for array in snapshot.residual.values())
    if snapshot.contributions and snapshot.samples:
        patterns += PATH * min(MEANS, len(snapshot.samples[0].tokens))
    return patterns + sum(min(array.size, _room(pictures)) for array in pictures.values())


def _room(names: Collection[str]) -> int:
    """Return the most cells of one matrix of the encoding: all layers together have no more than one alone."""
    return MAX_DRAWN_CELLS // max(1, stored_layers(names))


def snapshot_figures(config: RunConfig, snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """Return the figures for all later snapshots of the run, made from the first: the probe stays the same."""
    figures: dict[str, dict[str, Any]] = {}
    for which, pattern in snapshot.patterns.items():
        coarse, block = coarsen(pattern, MAX_DRAWN_CELLS)
        layers, heads, queries, keys = coarse.shape
        query_tokens, key_tokens = tokens_of(snapshot, which, pattern.shape[-2:])
        figures[f"mosaic.{which}"] = figure_json(mosaic_figure, layers, heads, queries, keys, which)
        figures[f"pattern.{which}"] = figure_json(pattern_figure, query_tokens, key_tokens, block, which)
    pictures = dict(snapshot.encoding.items())
    coarsened = {
        name: coarsen(pictures[name], _room(pictures)) for name in ("matrix", "similarity") if name in pictures
    }
    if "matrix" in coarsened:  # the figures of further layers are the same
        coarse, block = coarsened["matrix"]
        figures["matrix"] = figure_json(live_matrix_figure, config.encoding.acts_on, coarse.shape, block)
    if "similarity" in coarsened:
        figures["similarity"] = figure_json(live_similarity_figure, coarsened["similarity"][1])
    return figures


def tokens_of(snapshot: Snapshot, which: str, sizes: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """Return the probe's tokens on the query and the key axis; positions without a token get their index."""
    queries, keys = (
        (tokens + [str(index) for index in range(len(tokens), size)])[:size]
        for tokens, size in zip(symbols_of(snapshot, which), sizes, strict=True)
    )
    return queries, keys


def symbols_of(snapshot: Snapshot, which: str) -> list[list[str]]:
    """Return the probe's symbols that read and those that are read, in that kind of attention."""
    sample: Any = snapshot.samples[0] if snapshot.samples else None
    read = {"self": ("tokens", "tokens"), "encoder": ("source", "source"), "cross": ("tokens", "source")}[which]
    return [list(getattr(sample, side)) if sample else [] for side in read]
