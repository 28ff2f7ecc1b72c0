"""The cache of trials on this machine: whoever asks for the same settings, seed and code gets the trial that was trained first. On a
CPU a second one would give the same numbers; on a GPU nearly the same."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from engine.experiments.evidence.store import FORMAT, folder_of, read, trial_of, write
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.trial import Trial
from engine.foundation.code_hash import code_hash
from engine.foundation.files import keep_newest
from engine.foundation.log import LOG

MAX_KEPT = 20_000
"""The number of trials that are kept, the newest; one takes about 4 KB."""


def file_of(identity: list[Any], seed: int) -> Path:
    """The file of a trial, by the identity of its arm (see :meth:`Experiment.identity`)."""
    what = json.dumps([code_hash(), identity, seed], sort_keys=True)
    return folder_of("trials") / f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.json"


def save(experiment: Experiment, trial: Trial) -> None:
    """Store a trial that finished, unless it measured time. If the disk does not take it, a line in the log says so and
    nothing else changes.
    """
    arm = experiment.arm(trial.arm)
    if trial.outcome or arm.alone:
        return
    try:
        write(file_of(experiment.identity(arm), trial.seed), {"format": FORMAT, "trial": asdict(trial)})
    except OSError as error:
        LOG.warning("A trial could not be kept: %s", error.strerror or type(error).__name__)


def find(experiment: Experiment, arm: Arm, seed: int) -> Trial | None:
    """The stored trial of an arm of the experiment at a seed; None where there is none, or the arm measures time."""
    if arm.alone:
        return None
    with suppress(KeyError, TypeError, ValueError):
        row = read(file_of(experiment.identity(arm), seed)) or {}
        return replace(trial_of(row["trial"]), arm=arm.name, seed=seed)
    return None


def stored_trials(experiment: Experiment, extended: bool = False) -> list[Trial]:
    """The stored trials of the experiment's arms at its seeds."""
    return [trial for arm in experiment.arms_of(extended) for trial in stored_trials_of(experiment, arm)]


def stored_trials_of(experiment: Experiment, arm: Arm) -> Iterator[Trial]:
    """The stored trials of one arm, seed by seed; each is read when it is asked for."""
    return (trial for seed in experiment.seed_range if (trial := find(experiment, arm, seed)))


def delete_oldest() -> None:
    """Delete the oldest trials above ``MAX_KEPT``."""
    keep_newest(folder_of("trials"), "*.json", MAX_KEPT)
