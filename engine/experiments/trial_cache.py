"""The cache of trials on this machine: the same settings, seed and code give the same numbers again."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from engine.experiments.issues.issue import Arm, Issue
from engine.experiments.store import FORMAT, folder_of, read, trial_of, write
from engine.experiments.trial import Trial
from engine.foundation.code_hash import code_hash
from engine.foundation.files import keep_newest

MAX_KEPT = 20_000
"""The number of trials that are kept, the newest; one takes about 4 KB."""


def file_of(issue: Issue, arm: Arm, seed: int) -> Path:
    """The file of a trial. Its name depends on everything that determines the numbers, but not on the arm's or the issue's name."""
    return _files_of(issue, arm, [seed])[seed]


def _files_of(issue: Issue, arm: Arm, seeds: Iterable[int]) -> dict[int, Path]:
    record, settings = issue.record(arm), issue.config(arm).flat()
    files = {}
    for seed in seeds:
        what = [code_hash(), settings | {"seed": seed}, record.evaluations, record.measurements, issue.curves]
        files[seed] = (
            folder_of("trials") / f"{hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]}.json"
        )
    return files


def keep(issue: Issue, trial: Trial) -> None:
    """Store a trial that finished. If the disk does not take it, a line on stderr says so and nothing else changes."""
    if trial.outcome:
        return
    try:
        write(file_of(issue, issue.arm(trial.arm), trial.seed), {"format": FORMAT, "trial": asdict(trial)})
    except OSError as error:
        print(f"A trial of “{trial.arm}” could not be kept: {error}", file=sys.stderr)


def known(issue: Issue, seeds: Iterable[int]) -> list[Trial]:
    """The stored trials of the issue's usual arms at these seeds."""
    found = []
    for arm in issue.arms_of():
        for seed, file in _files_of(issue, arm, seeds).items():
            with suppress(KeyError, TypeError, ValueError):
                found.append(replace(trial_of((read(file) or {})["trial"]), arm=arm.name, seed=seed))
    return found


def forget_oldest() -> None:
    """Delete the oldest trials above ``MAX_KEPT``."""
    keep_newest(folder_of("trials"), "*.json", MAX_KEPT)
