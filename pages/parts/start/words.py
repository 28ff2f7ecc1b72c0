"""What the start page says of its example, all of it read from the recorded run."""

from __future__ import annotations

from engine.analysis.working_head import WorkingHead
from engine.foundation.formatting import counted
from engine.runs.events import Sample
from engine.runs.run import Run
from engine.tasks import TASKS
from pages.parts.app import server

WATCH = (
    "“Second half” is what it must write; the first half is random. Each row of the square is a place that reads, and a strong colour "
    "shows from where: which cells will get one?"
)
MIRRORED = "mirrored"
"""The kind of a head that looks at the mirrored place."""


def example_in_words(example: Sample) -> str:
    """The first sequence, its right answer, and what the untrained model writes."""
    asked = [place for place, target in enumerate(example.targets) if target]
    right, written = ([names[place] for place in asked] for names in (example.targets, example.predictions))
    return (
        f"**Watch a small transformer learn to write backwards**, from examples alone. It reads {symbols(example.tokens[: len(asked)])} "
        f"and must write {symbols(right)}; untrained, it writes {symbols(written)}."
    )


def symbols(names: list[str]) -> str:
    return f"`{' '.join(names)}`"


def conclusion(head: WorkingHead) -> str:
    """What happened, and which head does the work: told when the recording has been played to its end."""
    told = (
        f"At the end {head.whole:.0%} of the symbols of new sequences are right. Head {head.place.head + 1} of layer "
        f"{head.place.layer + 1} does the work: without it {head.without:.0%} are."
    )
    if head.kind == MIRRORED:
        told += " Its line rises to the right: each place reads the mirror image of what it writes."
    return told


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
