"""The cache of trials on this machine: for the same settings, seed and code the first trained trial is found again.

On a CPU a second one would give the same numbers; on a GPU nearly the same.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from engine.experiments.evidence.store import FORMAT, folder_of, read, trial_of
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.trial import Trial
from engine.foundation.code_hash import code_hash
from engine.foundation.files import keep_newest, write_whole
from engine.foundation.log import log_unsaved
from engine.foundation.stored_json import hash_of

MAX_TRIALS = 20_000  # the newest trials are stored; one takes about 4 KB


def files_of(experiment: Experiment, arm: Arm, seeds: Iterable[int]) -> list[Path]:
    """The files of an arm's trials at these seeds, existing or not.

    Their names hold a hash of all that determines the numbers of the arm (see :meth:`Experiment.identity`), computed
    once for all of them.
    """
    key = hash_of([code_hash(), experiment.identity(arm)], 32)
    return [folder_of("trials") / f"{key}-{seed}.json" for seed in seeds]


def save(experiment: Experiment, trial: Trial) -> None:
    """Store a trial that finished. If the disk does not take it, a line in the log says so and nothing else changes."""
    arm = experiment.arm(trial.arm)
    if trial.failure:
        return
    try:
        (file,) = files_of(experiment, arm, [trial.seed])
        write_whole(file, json.dumps({"format": FORMAT, "trial": asdict(trial)}, allow_nan=False))
    except OSError as error:
        log_unsaved("A trial of %s cannot be saved", trial.arm, error)


def find(experiment: Experiment, arm: Arm, seed: int) -> Trial | None:
    (file,) = files_of(experiment, arm, [seed])
    with suppress(KeyError, TypeError, ValueError):
        return replace(trial_of(read(file)["trial"]), arm=arm.name, seed=seed)
    return None


def number_stored(experiment: Experiment, arm: Arm) -> int:
    # no file is opened: a page counts at each rerun
    return sum(file.exists() for file in files_of(experiment, arm, experiment.seed_range))


def stored_trials_of(experiment: Experiment, arm: Arm) -> Iterator[Trial]:
    """Seed by seed; each trial is read when it is requested."""
    return (trial for seed in experiment.seed_range if (trial := find(experiment, arm, seed)))


def delete_oldest() -> None:
    keep_newest(folder_of("trials"), "*.json", MAX_TRIALS)
