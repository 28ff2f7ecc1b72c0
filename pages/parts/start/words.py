"""What the start page says of its example, all of it read from the recorded run."""

from __future__ import annotations

from engine.analysis.working_head import WorkingHead
from engine.foundation.formatting import counted
from engine.runs.events import Finished, Progress, Sample
from engine.runs.run import Run
from engine.runs.summary import LEARNED
from engine.tasks import TASKS
from pages.parts.app import server

WATCH = (
    "Each row of the square is a place that reads; a strong colour shows from which place. Which places must it read from to "
    "write backwards?"
)
MIRRORED = "mirrored"
"""The kind of a head that looks at the mirrored place."""


def example_in_words(example: Sample) -> str:
    """The first sequence, its right answer, and what the untrained model writes."""
    asked = [place for place, target in enumerate(example.targets) if target]
    right, written = ([names[place] for place in asked] for names in (example.targets, example.predictions))
    hits = sum(mark is True for mark in example.marks)
    return (
        f"**Watch a small transformer learn to write backwards.** It reads {symbols(example.tokens[: len(asked)])}, the first half of a "
        f"sequence, and must write the second half, {symbols(right)}. Nobody tells it how: it only sees many such sequences. Untrained "
        f"it writes {symbols(written)}, {hits} of {len(asked)} right."
    )


def symbols(names: list[str]) -> str:
    return f"`{' '.join(names)}`"


def conclusion(run: Run, head: WorkingHead) -> str:
    """What happened, and which head does the work: told when the recording has been played to its end."""
    values = [
        (event.step, event.validation[head.metric])
        for event in run.events.landmarks()
        if isinstance(event, Progress) and event.validation
    ]
    reached = next((step for step, value in values if value >= LEARNED), None)
    end = run.ending.metrics[head.metric] if isinstance(run.ending, Finished) else values[-1][1]
    told = f"At the end it writes {end:.0%} of the symbols of new sequences right"
    told += "." if reached is None else f"; {LEARNED:.0%} were right for the first time at step {reached}."
    return f"{told} {head_in_words(head)}"


def head_in_words(head: WorkingHead) -> str:
    told = f"Head {head.place.head + 1} of layer {head.place.layer + 1} does the work: without it {head.without:.0%} are right. "
    if head.kind != MIRRORED:
        return told.strip()
    return (
        f"{told}Its strong cells form a line that rises to the right: each place reads the mirror image of the one that it writes. "
        "In the rows above that line nothing is written yet."
    )


def recording_in_words(run: Run) -> str:
    """What was recorded, for those who want to know."""
    config, started = run.config, run.started
    parameters = f", {started.parameters:,} parameters" if started else ""
    return (
        f"The recording: {TASKS[config.task].label}, {config.encoding.label}, {counted(config.n_layers, 'layer')} of "
        f"{counted(config.n_heads, 'head')}{parameters}, {counted(config.steps, 'step')}, seed {config.seed}: one with which a single "
        "head does nearly all of the work. With other seeds two heads may share it."
    )


def device_in_words() -> str:
    """The device that the workers found, or a note that they are still starting."""
    health = server.pool().health()
    if not health.ready:
        return "The workers are waking up."
    name = health.device.get("accelerator_name") or health.device.get("accelerator") or "CPU"
    workers = counted(health.size, "worker")
    return f"Your own runs train on {name} with {workers}, torch {health.device.get('torch', '')}."
