"""The recorded runs, which pages show where nothing was trained."""

import json
from pathlib import Path

import engine
from engine.analysis.text.jobs import Counted
from engine.foundation.once import once
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.boards.live.feed import Payload, feed

FOLDER = Path(engine.__file__).parent / "runs" / "recorded"
RECORDED, RECORDED_HOPS = "recorded", "recorded-hops"
"""The names of the recorded runs, used instead of ids: the one that reverses a sequence in one layer, and the one that hops in two."""
FOLDERS = {RECORDED: FOLDER / "reverse", RECORDED_HOPS: FOLDER / "hops"}


def recorded_run(name: str = RECORDED) -> Run:
    return _run_in(FOLDERS[name])


def recorded_runs() -> dict[str, Run]:
    """The recorded runs of which all pages know, by name."""
    return {name: recorded_run(name) for name in FOLDERS}


@once
def _run_in(folder: Path) -> Run:
    return Run.from_disk(RunFolder(folder))


@once
def recorded_words() -> tuple[Run, Counted]:
    """The run on the plays that the lab shows where its task is words, and the scores of the counting models beside it."""
    folder = FOLDER / "words"
    return _run_in(folder), json.loads((folder / "counted.json").read_text("utf-8"))


@once
def recorded_feed() -> Payload:
    """The whole run of one layer as one message for the board; made once."""
    return feed(recorded_run(), 0)[0]


def is_recorded(run: Run) -> bool:
    return any(run is one for one in recorded_runs().values())


def run_named(name: str) -> Run | None:
    """The run of that name or id; None where there is none."""
    return recorded_run(name) if name in FOLDERS else server.find(name)
