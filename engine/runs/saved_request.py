"""The request with which a suspended run was submitted: a file beside the saved state of its training.

Both together make a run that its owner can resume, through the queue and on any worker, also after a restart of the server.
"""

import json
from contextlib import suppress
from dataclasses import asdict, replace

from engine.foundation.files import write_whole
from engine.foundation.stored_json import read_json
from engine.foundation.visitor import Visitor
from engine.runs.folder import RunFolder
from engine.runs.record_options import RecordOptions
from engine.runs.request import RunRequest
from engine.runs.run import Run


def write_request(run: Run, request: RunRequest, *, left: bool = False) -> None:
    """Keep what was asked for beside the saved state, and whether the run goes on by itself when the app is started anew; ``left``:
    only when its owner has a page open. Raises OSError where the disk does not take it."""
    row = {
        "step": run.step, "pace": request.pace, "record": asdict(request.record), "going": not request.paused, "left": left,
    }  # fmt: skip
    write_whole(RunFolder(run.folder).saved_request, json.dumps(row))


def read_request(run: Run, address: str = "") -> RunRequest:
    """The request with which a suspended run was submitted; the run waits until it is resumed. Where that cannot be read, the defaults."""
    owner = Visitor(run.owner, address)
    try:
        row = read_json(RunFolder(run.folder).saved_request)
        record = RecordOptions(**{**row["record"], "measurements": tuple(row["record"]["measurements"])})
        pace = None if row["pace"] is None else float(row["pace"])
        return RunRequest(run.config, owner, pace=pace, paused=True, record=record)
    except (OSError, ValueError, KeyError, TypeError):
        return RunRequest(run.config, owner, paused=True)


def set_pace(run: Run, steps_per_second: float | None) -> None:
    """Set the pace with which a suspended run goes on."""
    with suppress(OSError):
        write_request(run, replace(read_request(run), pace=steps_per_second))


def delete_saved(run: Run) -> None:
    """Delete the saved state of a run and what stands beside it: the run has ended."""
    folder = RunFolder(run.folder)
    folder.delete_half_written()
    for file in (folder.saved_request, folder.state):
        with suppress(OSError):
            file.unlink()
