"""The seeds of a class: when the presenter asks, each phone trains a seed, and its numbers go into the projected figure.

The presenter asks in rounds. A phone has one seed in each, which follows from class, student, step and round: a second press finds
the file of the first, and a late press is refused because the projector has moved on. No seed is in a stored set, and no number of
a class goes into one. A seed is a file in the folder of its class, which is deleted with the class. The file is empty while the seed
trains, and then holds its trials as JSON.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.experiments.classroom import TOO_LATE, folder_of, projector_of, student_file
from engine.experiments.evidence.store import trial_of
from engine.experiments.issues.issue import Issue
from engine.experiments.trial import Trial
from engine.foundation.errors import NoRoom, Refused
from engine.foundation.files import write_whole
from engine.foundation.once import once_per_change
from engine.foundation.visitor import Visitor

CLASS_PREFIX = "class."  # the beginning of the slug of a class's experiment; the slug of its issue follows
FIRST_SEED = 2**20  # no stored set and no reader's setting has a seed above it
MAX_SEEDS_OF_STUDENT = 20  # for each student in a class


@dataclass(frozen=True)
class ClassSeed:
    file: Path
    seed: int
    pressed: bool
    done: bool


@dataclass(frozen=True)
class ClassSeeds:
    participants: int
    """The number of phones with a finished seed."""
    this_round: frozenset[str]
    """The ids of the students with a finished seed of the present round."""
    seeds: tuple[int, ...]
    trials: tuple[Trial, ...]
    training: frozenset[str] = frozenset()


def class_experiment(issue: Issue, seed: int = FIRST_SEED) -> Issue:
    """The experiment of a phone: the arms of the issue's key figure at one seed, and the claim that this figure decides."""
    figure = issue.key_figure
    claim = issue.claim(figure.claim)
    names = {*(row.arm for row in figure.rows), *(arm for arm, _ in claim.numbers)}
    arms = tuple(arm for arm in issue.arms if arm.name in names)
    return replace(issue, slug=CLASS_PREFIX + issue.slug, arms=arms, claims=(claim,), seeds=1, first_seed=seed)


def class_seed(code: str, student: Visitor, at: int, round: int) -> ClassSeed:
    name = f"{student.id}.{at}.{round}"
    digest = hashlib.sha256(f"{code} {name}".encode()).digest()
    file = folder_of(code) / f"{name}.seed"
    size = file.stat().st_size if file.exists() else -1
    return ClassSeed(file, FIRST_SEED + (int.from_bytes(digest[:4]) >> 2), size >= 0, size > 0)


def press_seed(code: str, student: Visitor, at: int, round: int) -> None:
    """Mark the student's seed of this round as pressed; a second press changes nothing.

    Raises Refused if the projector has gone on, NoRoom if the student is not in the class or has enough seeds, OSError if the disk
    does not take it.
    """
    state = projector_of(code)
    if (state.at, state.phase, state.round) != (at, "seeds", round):
        raise Refused(TOO_LATE)
    if not student_file(code, student).exists():
        raise NoRoom("This phone is not in the class.")
    seed = class_seed(code, student, at, round)
    if seed.pressed:
        return
    if sum(1 for _ in seed.file.parent.glob(f"{student.id}.*.seed")) >= MAX_SEEDS_OF_STUDENT:
        raise NoRoom(f"This phone has trained {MAX_SEEDS_OF_STUDENT} seeds, which is the limit.")
    with suppress(FileExistsError):  # pressed in another tab, just now
        seed.file.touch(exist_ok=False)


def keep_seed(seed: ClassSeed, issue: Issue, trials: Sequence[Trial]) -> None:
    """Store the numbers that the class's figure needs; nothing if the class no longer exists. Raises OSError."""
    if not seed.file.exists():
        return
    figure = issue.key_figure
    requested = {*((row.arm, row.metric) for row in figure.rows), *issue.claim(figure.claim).numbers}
    rows = []
    for trial in trials:
        names = [name for name in trial.numbers if (trial.arm, name) in requested or name.startswith("chance.")]
        rows.append(asdict(replace(trial, curves={}, numbers={name: trial.numbers[name] for name in names})))
    write_whole(seed.file, json.dumps(rows))


def class_seeds(code: str, at: int, round: int) -> ClassSeeds:
    by_name = dict[str, tuple[Trial, ...]]()
    with suppress(OSError), os.scandir(folder_of(code)) as entries:
        for entry in entries:
            if entry.name.endswith(".seed") and entry.name.split(".")[1] == str(at):
                with suppress(OSError):
                    by_name[entry.name] = _trials(Path(entry.path))
    done = {name: trials for name, trials in sorted(by_name.items()) if trials}
    participants = {name.partition(".")[0] for name in done}
    trials = tuple(trial for seed in done.values() for trial in seed)
    seeds = tuple(dict.fromkeys(trial.seed for trial in trials))
    of_round = {name: name.partition(".")[0] for name in by_name if name.endswith(f".{round}.seed")}
    this_round = frozenset(student for name, student in of_round.items() if name in done)
    return ClassSeeds(len(participants), this_round, seeds, trials, frozenset(of_round.values()) - this_round)


@once_per_change(8192)
def _trials(file: Path) -> tuple[Trial, ...]:
    with suppress(KeyError, ValueError, TypeError):
        return tuple(trial_of(row) for row in json.loads(file.read_bytes()))
    return ()
