"""Trials on this machine, each under what was trained: the same settings, seed and code give the same numbers again."""

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
"""The newest trials that are kept; one takes about 4 KB."""


def file_of(issue: Issue, arm: Arm, seed: int) -> Path:
    """Its name depends on all that decides the trial's numbers, and on nothing else: not on the arm's name, not on the issue."""
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
    """Leave a trial that finished. A disk that does not take it costs nothing else, and is said on stderr."""
    if trial.outcome:
        return
    try:
        write(file_of(issue, issue.arm(trial.arm), trial.seed), {"format": FORMAT, "trial": asdict(trial)})
    except OSError as error:
        print(f"A trial of “{trial.arm}” could not be kept: {error}", file=sys.stderr)


def known(issue: Issue, seeds: Iterable[int]) -> list[Trial]:
    """Those of the issue's usual arms at these seeds that were trained on this machine before."""
    found = []
    for arm in issue.arms_of():
        for seed, file in _files_of(issue, arm, seeds).items():
            with suppress(KeyError, TypeError, ValueError):
                found.append(replace(trial_of((read(file) or {})["trial"]), arm=arm.name, seed=seed))
    return found


def forget_oldest() -> None:
    """So that no more than ``MAX_KEPT`` are left."""
    keep_newest(folder_of("trials"), "*.json", MAX_KEPT)
