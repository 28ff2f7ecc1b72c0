"""What the start page says of its example, all of it read from the recorded run."""

from collections import Counter
from functools import cache

import numpy as np

from engine.analysis.attention.working_head import WorkingHead
from engine.foundation.formatting import counted
from engine.runs.events import Sample
from engine.runs.run import Run
from engine.tasks import TASKS
from engine.workers.health import Health
from engine.workers.processes.machines import HERE
from pages.parts.boards.recorded import recorded_endings
from pages.parts.charts.attention import weights_image

WATCH = (
    "The “second half” of a sequence is the part that the model must write; the first half is random. In the square, each row is a "
    "position that reads. A strong colour shows the position that it reads from. Which cells will get a strong colour?"
)
MIRRORED = "mirrored"
"""The kind of a head that looks at the mirrored place."""
CPU = "CPU"


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


@cache
def ending_in_a_picture(slug: str) -> str:
    """The attention with which the recorded run of an example ends, in HTML."""
    address = weights_image(np.array(recorded_endings()[slug]))
    return f'<div class="thumbnail weights"><img src="{address}" alt="The attention at the end of a run"></div>'


def recording_in_words(run: Run) -> str:
    """What was recorded, for those who want to know."""
    config, started = run.config, run.started
    parameters = f", {started.parameters:,} parameters" if started else ""
    return (
        f"The recording: {TASKS[config.task].label}, {config.encoding.label}, {counted(config.n_layers, 'layer')} of "
        f"{counted(config.n_heads, 'head')}{parameters}, {counted(config.steps, 'step')}, seed {config.seed}: one with which a single "
        "head does nearly all of the work. With other seeds two heads may share it."
    )


def workers_in_words(health: Health) -> str:
    """Where runs are trained: on which devices, with how many workers, and on how many machines of a cluster. The address of a
    cluster that cannot be reached stands in the log: it is not the visitors'."""
    gone = ""
    if health.cluster_is_gone:
        gone = " The cluster cannot be reached, so runs are trained on the app's own machine."
    if not health.ready:
        return f"The workers are waking up.{gone}"
    torch = f"torch {health.device.get('torch', '')}"
    if there := health.on_cluster:
        kinds = Counter(worker.accelerator or CPU for worker in there)
        kind = (
            ", ".join(f"{number} on {name}" for name, number in kinds.items()) if len(kinds) > 1 else next(iter(kinds))
        )
        workers, machines = counted(len(there), "worker"), counted(len(health.hosts - {HERE}), "machine")
        return f"Your own runs train on {workers} of {machines} of the cluster ({kind}), {torch}.{gone}"
    name = health.device.get("accelerator_name") or health.device.get("accelerator") or CPU
    return f"Your own runs train on {name} with {counted(health.size, 'worker')}, {torch}.{gone}"
