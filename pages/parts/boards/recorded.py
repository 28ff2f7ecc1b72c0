"""The recorded runs, which pages show before anything was trained."""

import json
from pathlib import Path

import engine
from engine.analysis.text.jobs import CountingLevels
from engine.config.run_config import RunConfig
from engine.foundation.once import once
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.boards.live.board_updates import Payload, updates_after

FOLDER = Path(engine.__file__).parent / "runs" / "recorded"
# used instead of ids: the lab's first settings, which reverse in one layer; hops in two layers; the plays
RECORDED, RECORDED_HOPS, RECORDED_WORDS = "recorded", "recorded-hops", "recorded-words"
FOLDERS = {RECORDED: FOLDER / "reverse", RECORDED_HOPS: FOLDER / "hops", RECORDED_WORDS: FOLDER / "words"}


def recorded_run(name: str = RECORDED) -> Run:
    return _run_in(FOLDERS[name])


def recorded_runs() -> dict[str, Run]:
    return {name: recorded_run(name) for name in FOLDERS}


@once
def _run_in(folder: Path) -> Run:
    return Run.from_disk(RunFolder(folder))


def recorded_with(config: RunConfig | None) -> Run | None:
    return next((run for run in recorded_runs().values() if run.config == config), None)


@once
def recorded_words() -> tuple[Run, CountingLevels]:
    file = FOLDERS[RECORDED_WORDS] / "counted.json"
    return recorded_run(RECORDED_WORDS), json.loads(file.read_text("utf-8"))


@once
def recorded_updates() -> Payload:
    return updates_after(recorded_run(), 0)[0]


def run_named(name: str) -> Run | None:
    return recorded_run(name) if name in FOLDERS else server.find(name)
