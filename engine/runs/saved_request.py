"""The request of a run that has not ended: a file in the run's folder, from before the run begins to its end.

With it a run that has lost its worker or its server continues, through the queue and on any worker: from the saved state of its
training, else from its beginning.
"""

import json
from contextlib import suppress
from dataclasses import asdict, replace

from engine.foundation.files import write_whole
from engine.foundation.stored_json import read_json
from engine.foundation.visitor import Visitor
from engine.runs.record_options import RecordOptions
from engine.runs.request import RunRequest
from engine.runs.run import Run


def write_request(run: Run, request: RunRequest, *, left: bool = False) -> None:
    """``left``: when the app starts again, the run continues only when its owner has a page open. Raises OSError."""
    row = {
        "pace": request.pace, "record": asdict(request.record), "going": not request.paused, "left": left,
        "accelerator": request.accelerator,
    }  # fmt: skip
    write_whole(run.files.saved_request, json.dumps(row))


def read_request(run: Run, address: str = "") -> RunRequest:
    """The request of a checkpointed run, which waits until it is resumed; with the defaults if it cannot be read."""
    owner = Visitor(run.owner, address)
    try:
        row = read_json(run.files.saved_request)
        record = RecordOptions(**{**row["record"], "measurements": tuple(row["record"]["measurements"])})
        pace = None if row["pace"] is None else float(row["pace"])
        accelerator = row.get("accelerator")  # a file of an earlier version has none
        decided = accelerator if isinstance(accelerator, bool) else None
        return RunRequest(run.config, owner, pace=pace, paused=True, record=record, accelerator=decided)
    except (OSError, ValueError, KeyError, TypeError):
        return RunRequest(run.config, owner, paused=True)


def set_pace(run: Run, steps_per_second: float | None) -> None:
    with suppress(OSError):
        if row := run.files.read_saved_request():
            write_whole(run.files.saved_request, json.dumps(row | {"pace": steps_per_second}))
        else:
            write_request(run, replace(read_request(run), pace=steps_per_second))


def delete_saved(run: Run) -> None:
    run.files.delete_half_written()
    for file in (run.files.saved_request, run.files.state):
        with suppress(OSError):
            file.unlink()
