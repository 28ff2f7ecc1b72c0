"""What the start page says of its example, all of it read from the recorded run."""

from __future__ import annotations

from engine.analysis.working_head import WorkingHead
from engine.foundation.formatting import counted
from engine.runs.events import Sample
from engine.runs.run import Run
from engine.runs.summary import run_summary
from engine.tasks import TASKS
from pages.parts.app import server

MIRRORED = "mirrored"
"""The kind of a head that looks at the mirrored place."""


def example_in_words(example: Sample) -> str:
    """The first sequence, its right answer, and what the untrained model writes."""
    right, written = (
        answer(example.targets),
        [p for p, t in zip(example.predictions, example.targets, strict=True) if t],
    )
    length = len(right)
    hits = sum(marks is True for marks in example.marks)
    return (
        f"A model reads {symbols(example.tokens[:length])} and must write {symbols(right)}. Nobody tells it how; it only sees many such "
        f"examples. Before its training it writes {symbols(written)}: {hits} of {length} right."
    )


def answer(targets: list[str]) -> list[str]:
    """The symbols to write; before them nothing is asked."""
    return [target for target in targets if target]


def symbols(names: list[str]) -> str:
    return f"`{' '.join(names)}`"


def conclusion(run: Run, head: WorkingHead) -> str:
    """What happened, and which head does the work: told when the recording has been played to its end."""
    name = head.metric.replace("_", "-").replace("-accuracy", " accuracy")
    told = [finding.sentence for finding in run_summary(run.config, run.events.landmarks())]
    told.append(
        f"Head {head.place.head + 1} of layer {head.place.layer + 1} does the work: without it {name} falls from "
        f"{head.whole:.2f} to {head.without:.2f}."
    )
    if head.kind == MIRRORED:
        told.append(
            "Its dark cells rise from the lower left corner: each place reads the mirror image of the one that it writes."
        )
    return " ".join(told)


def recording_in_words(run: Run) -> str:
    """What was recorded, for those who want to know."""
    config, started = run.config, run.started
    parameters = f", {started.parameters:,} parameters" if started else ""
    return (
        f"The recording: {TASKS[config.task].label}, {config.encoding.label}, {counted(config.n_layers, 'layer')} of "
        f"{counted(config.n_heads, 'head')}{parameters}, {counted(config.steps, 'step')}."
    )


def device_in_words() -> str:
    """The device that the workers found, or a note that they are still starting."""
    health = server.pool().health()
    if not health.ready:
        return "The workers are waking up."
    name = health.device.get("accelerator_name") or health.device.get("accelerator") or "CPU"
    return (
        f"Your own runs train on {name} with {counted(health.size, 'worker')}, torch {health.device.get('torch', '')}."
    )
