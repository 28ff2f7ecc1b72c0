"""The store of evidence on this machine: one JSON file for each experiment that ended, the newest read first."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from engine.experiments.experiment import Experiment
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.report import Report, Weigher, report
from engine.experiments.statistics import Question, Verdict, Weighed, weigh_all
from engine.experiments.trial import Trial
from engine.foundation.files import keep_newest, write_whole
from engine.foundation.paths import data_folder

FORMAT = 1
MAX_KEPT = 200
"""The number of experiments on an issue that are kept, the newest."""


@dataclass(frozen=True)
class Evidence:
    """The stored result of an experiment."""

    report: Report
    trials: list[Trial]
    created: float
    """The time of creation in seconds since 1970."""
    from_before: int = 0
    """The number of trials that this experiment did not train again."""


def folder_of(slug: str) -> Path:
    return data_folder() / "evidence" / slug


def keep(experiment: Experiment) -> Path:
    """Write an experiment's evidence. Raises OSError where the disk does not take it."""
    folder = folder_of(experiment.issue.slug)
    file = write(folder / f"{time.time_ns()}-{secrets.token_hex(2)}.json", row_of(experiment))
    keep_newest(folder, "*.json", MAX_KEPT)
    return file


def row_of(experiment: Experiment) -> dict[str, Any]:
    """An experiment as plain data."""
    return {
        "format": FORMAT,
        "created": time.time(),
        "seeds": list(experiment.seeds),
        "extended": experiment.extended,
        "seconds": experiment.seconds,
        "from_before": len(experiment.from_before),
        "verdict": experiment.report.verdict,
        "weighed": [[claim.question, asdict(claim.weighed)] for claim in experiment.report.claims],
        "trials": [asdict(trial) for trial in experiment.trials],
    }


def write(file: Path, row: dict[str, Any]) -> Path:
    """Write a row in one step. Raises OSError where the disk does not take it."""
    write_whole(file, json.dumps(row, allow_nan=False))
    return file


def latest(slug: str) -> Evidence | None:
    """The newest evidence on an issue, by today's claims; claims that were not weighed then are weighed now. None without evidence."""
    for row in _rows(slug):
        with suppress(KeyError, TypeError, ValueError):
            return evidence_of(ISSUES[slug], row)
    return None


def evidence_of(issue: Issue, row: dict[str, Any]) -> Evidence:
    """The evidence in a stored row. Raises KeyError, TypeError or ValueError where the row holds none."""
    trials = [trial_of(trial) for trial in row["trials"]]
    weigh = _as_weighed(row["weighed"])
    found = report(issue, trials, row["seeds"], extended=row["extended"], seconds=row["seconds"], weigh=weigh)
    return Evidence(found, trials, row["created"], row.get("from_before", 0))


def latest_trials(slug: str) -> list[Trial]:
    """The latest trial of every arm and seed that was run on this machine."""
    found: dict[tuple[str, int], Trial] = {}
    for row in _rows(slug):
        with suppress(KeyError, TypeError, ValueError):
            for trial in map(trial_of, row["trials"]):
                found.setdefault((trial.arm, trial.seed), trial)
    return list(found.values())


def latest_verdict(slug: str) -> Verdict | None:
    """The newest verdict, without computing statistics; None where the issue was not run on this machine."""
    return next((verdict for file in _files(slug) if (verdict := _verdict_in(file)) is not None), None)


def _as_weighed(known: list[Any]) -> Weigher:
    """A weigher that returns the stored answers to known questions."""
    before = [(question, Weighed(**{**row, "ci": tuple(row["ci"]) if row["ci"] else None})) for question, row in known]

    def weigh(questions: Sequence[Question]) -> list[Weighed]:
        found = [next((w for asked, w in before if asked == list(question)), None) for question in questions]
        return [weighed or weigh_all([question])[0] for question, weighed in zip(questions, found, strict=True)]

    return weigh


def _files(slug: str) -> list[Path]:
    """The files of an issue, the newest first."""
    return sorted(folder_of(slug).glob("*.json"), reverse=True)


@lru_cache(1024)
def _verdict_in(file: Path) -> Verdict | None:
    """The verdict in a file. Each file is read once, since it never changes: a map asks for all of them again and again."""
    verdict = (read(file) or {}).get("verdict")
    return verdict if verdict in get_args(Verdict) else None


def _rows(slug: str) -> Iterator[dict[str, Any]]:
    return (row for file in _files(slug) if (row := read(file)) is not None)


def read(file: Path) -> dict[str, Any] | None:
    """The row in a file; None where it cannot be read."""
    try:
        row = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return row if isinstance(row, dict) and row.get("format") == FORMAT else None


def trial_of(row: dict[str, Any]) -> Trial:
    """The trial in a stored row. Raises KeyError, TypeError or ValueError where the row holds none."""
    curves = {name: [(int(step), float(value)) for step, value in curve] for name, curve in row["curves"].items()}
    return Trial(**{**row, "curves": curves})
