"""The card of a run: what it wrote untrained and trained, and what it writes without one skip connection."""

from itertools import pairwise

from engine.analysis.attention.asked import ModelAsked
from engine.analysis.attention.jobs import ReadOwnSequence
from engine.analysis.attention.parts import Part, parts_of
from engine.estimate.warnings import leak_of
from engine.experiments.story.readings import score_of, step_reaching
from engine.foundation.errors import JobError
from engine.foundation.formatting import counted, percent
from engine.runs.events import Sample, Snapshot
from engine.runs.run import Run
from engine.runs.summary import LEARNED
from engine.tasks import TASKS
from pages.parts.app.questions import ask_once
from pages.parts.boards.live.model_messages import too_large
from pages.parts.stage.card import Card, Written

VERBS = ("reverse", "copy", "sort")
"""The tasks whose names are verbs."""
PATIENCE = 30.0
"""Seconds to wait for what the model writes without the part."""
CUT = Part("skip")
"""The part that is taken away: the skip connection of the first layer."""


def card_of(run: Run, link: str) -> Card | None:
    """None where the run has not finished. ``link``: to the run."""
    score, looks = score_of(run.config, run.events), run.events.of(Snapshot)
    if score is None or not looks:
        return None
    config, task = run.config, TASKS[run.config.task]
    reached = step_reaching(config, run.events, LEARNED)
    model = "transformer" if config.architecture.attends else config.architecture.label.partition(" (")[0]
    if reached is not None and score.value >= LEARNED and not leak_of(config):
        aim = f"to {task.name}" if task.name in VERBS else f"“{task.label}”"
        said = f"My {model} learned {aim} in {counted(reached, 'step')}"
    else:
        said = f"After {counted(run.step, 'step')} my {model} has {percent(score.value)} of “{task.label}” right"
    times = [f"After {counted(look.step, 'step')}" if look.step else "Untrained" for look in looks]
    rows = [_written(time, look.samples[0]) for time, look in zip(times, looks, strict=True)]
    film = rows[:1] + [row for before, row in pairwise(rows) if row.symbols != before.symbols]
    shown = [rows[0], rows[-1]] if len(rows) > 1 else rows
    if (cut := without_skip(run)) is not None:
        said = f"{said}; {_broken(looks[-1].samples[0], cut)}"
        for one in (shown, film):
            one.append(_written("One skip line cut", cut))
    foot = f"{config.encoding.label} · {counted(config.n_layers, 'layer')} · {counted(config.n_heads, 'head')} · Attention Lab"
    return Card(f"{said}.", tuple(shown), link, foot, tuple(film))


def _written(name: str, sample: Sample) -> Written:
    return Written(name, sample.predictions, sample.marks)


def without_skip(run: Run) -> Sample | None:
    """What the run writes without the part; None where it has none, or a page may not wait for the answer."""
    if CUT.name not in parts_of(run.config) or run.weights is None or too_large(run.config):
        return None
    try:
        seen = ask_once(ReadOwnSequence(ModelAsked(run.config, str(run.weights)), "", (CUT,)), timeout=PATIENCE)
    except JobError:
        return None
    return seen.samples[0]


def _broken(whole: Sample, cut: Sample) -> str:
    """What becomes of the answers that were right."""
    right = [now for before, now in zip(whole.marks, cut.marks, strict=True) if before]
    noun = "right answer" if False in whole.marks else "answer"
    broken = right.count(False)
    if not broken:
        return f"cut one skip line and no {noun} breaks"
    return f"cut one skip line and {broken} of {counted(len(right), noun)} {'breaks' if len(right) == 1 else 'break'}"
