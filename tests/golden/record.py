"""Make the golden record: ``python -m tests.golden.record``. Done once, before the engine is rearranged; after that the record is
compared, not made again, unless a number is meant to change."""

import hashlib
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import torch

from engine.analysis.measurements.take import take_measurement
from engine.config.link import from_query
from engine.config.run_config import parse
from engine.experiments.issues import ISSUES
from engine.experiments.trial import read_trial
from engine.foundation.json_lines import json_lines
from engine.foundation.provenance import cpu_name
from engine.runs.events import ARRAYS, Event, Finished, Measuring, Progress, Snapshot, to_json
from engine.runs.record_options import RecordOptions
from engine.training.train import train

FILE = Path(__file__).parent / "record.json"
ISSUE, SEED = "missing-mask", 0
SNAPSHOTS_AT = {0, 1, 2, 3, 4, 6, 8, 11, 12}  # the steps of the snapshots in the record; a run may have more
CLOCK = {"seconds", "tokens_per_second", "steps_per_second"}  # times


def processor() -> str:
    """The numbers of the processor's kind, since several have one name; empty if the system does not tell."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    named = dict(line.replace("\t", "").split(": ", 1) for line in lines if ": " in line)
    return " ".join(named.get(name, "") for name in ("cpu family", "model", "stepping")).strip()


def machine() -> dict[str, str]:
    return {
        "torch": str(torch.__version__),
        "cpu": cpu_name(),
        "processor": processor(),
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "system": platform.machine(),
    }


def fingerprint(events: Iterable[Event]) -> str:
    """A hash of every number, name and array in the events, without times."""
    digest = hashlib.sha256()
    for event in events:
        if isinstance(event, Measuring):
            continue
        row = {name: value for name, value in to_json(event).items() if name not in CLOCK}
        digest.update(json.dumps(row, sort_keys=True).encode())
        for field in ARRAYS if isinstance(event, Snapshot) else ():
            for name, array in sorted(getattr(event, field).items()):
                digest.update(f"{field} {name} {array.dtype} {array.shape}".encode())
                digest.update(array.tobytes())
    return digest.hexdigest()


def run_of(flat: dict[str, Any]) -> dict[str, Any]:
    """One run's fingerprint and the numbers by which it is compared on another machine."""
    recorded = train(parse(flat), record=RecordOptions(evaluations=100))
    events = [event for event in recorded if not isinstance(event, Snapshot) or event.step in SNAPSHOTS_AT]
    started, last = events[0], events[-1]
    losses = [event.loss for event in events if isinstance(event, Progress)]
    return {
        "fingerprint": fingerprint(events),
        "kinds": [type(event).__name__ for event in events if not isinstance(event, Measuring)],
        "parameters": started.parameters,
        "losses": losses,
        "metrics": last.metrics if isinstance(last, Finished) else {},
        "saved": last.memory.saved if isinstance(last, Finished) else None,
    }


def evidence() -> list[dict[str, Any]]:
    issue = ISSUES[ISSUE]
    trials = []
    for arm in issue.arms_of(False):
        events = train(issue.config(arm, SEED), record=issue.record(arm), measure=take_measurement)
        read = read_trial(arm.name, SEED, list(events), issue.curves)
        numbers = {name: value for name, value in read.numbers.items() if name not in CLOCK}
        trials.append({"arm": read.arm, "seed": read.seed, "outcome": read.failure, "numbers": numbers})
    return trials


def config_of(link: str) -> dict[str, Any]:
    config, problems = from_query(dict(parse_qsl(link, keep_blank_values=True)))
    return {"config": config.model_dump(mode="json"), "ignored": [problem.setting for problem in problems]}


def record() -> dict[str, Any]:
    """Make the record of today. Its runs have the same settings as ever, which together name every encoding, task and family of
    then; its links are the same ones: full ones, short ones, wrong ones."""
    before = json.loads(FILE.read_text())
    settings = {name: run["settings"] for name, run in before["runs"].items()}
    return {
        "machine": machine(),
        "runs": {name: {"settings": flat, **run_of(flat)} for name, flat in settings.items()},
        "evidence": evidence(),
        "links": {link: config_of(link) for link in before["links"]},
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    FILE.write_text(json_lines(record(), 2) + "\n")  # a line for each run, trial and link
