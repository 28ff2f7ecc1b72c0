"""The recorded runs, which the start page and the text page show before any training, and the choice among one and a visitor's own runs."""

import json
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path

import engine
from engine.analysis.attention.working_head import WorkingHead, load
from engine.analysis.text.jobs import Counted
from engine.foundation.formatting import counted
from engine.runs.events import Sample, Snapshot
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from engine.tasks import TASKS
from pages.parts.app import server
from pages.parts.app.visitor import visitor
from pages.parts.boards.live.feed import Payload, feed

FOLDER = Path(engine.__file__).parent / "runs" / "recorded" / "reverse"
RECORDED = "recorded"
"""The name of the recorded run, used instead of an id."""
MOST_RUNS = 30
"""The most runs of a visitor to choose from."""


@cache
def recorded_run() -> Run:
    return Run.from_disk(RunFolder(FOLDER))


@cache
def recorded_words() -> tuple[Run, Counted]:
    """The run on the plays that the text page shows on arrival, and the scores of the counting models beside it."""
    folder = RunFolder(FOLDER.parent / "words")
    return Run.from_disk(folder), json.loads((folder.path / "counted.json").read_text("utf-8"))


@cache
def recorded_feed() -> Payload:
    """The whole run as one message for the board; made once, since every visitor's first page shows it."""
    return feed(recorded_run(), 0)[0]


@cache
def recorded_head() -> WorkingHead:
    """The head that does the work at the run's end, found when it was recorded."""
    return load(FOLDER)


@cache
def recorded_endings() -> dict[str, list[list[float]]]:
    """The attention [query, key] with which a run of each example ends, by its slug."""
    endings: dict[str, list[list[float]]] = json.loads((FOLDER.parent / "endings.json").read_text("utf-8"))
    return endings


def recorded_example() -> Sample:
    """The first sequence that the run is watched on, with the answers of the untrained model."""
    return recorded_run().events.of(Snapshot)[0].samples[0]


def run_named(name: str) -> Run | None:
    """The run of that name or id; None where there is none."""
    return recorded_run() if name == RECORDED else server.find(name)


def runs_of_visitor(fits: Callable[[Run], bool], *others: Run | None) -> dict[str, Run]:
    """This visitor's runs that fit, by id, newest first, after ``others``. The recorded run, which all have, is not among them."""
    own = (run for run in server.pool().runs.recent(visitor().id, MOST_RUNS) if fits(run))
    return {run.id: run for run in (*others, *own) if run is not None and run is not recorded_run()}


def run_in_words(run: Run) -> str:
    """A run as it is listed: its task, its encoding, its size, and when it was started."""
    config, when = run.config, f"{datetime.fromtimestamp(run.created):%d %b %H:%M}"
    size = f"{counted(config.n_layers, 'layer')}, {counted(config.n_heads, 'head')}"
    last = "recorded" if run is recorded_run() else when
    return f"{TASKS[config.task].label} · {config.encoding.label} · {size} · {last}"
