"""The runs that leave the queue and the workers, and the fate of a run whose worker has ended: pure functions of the runs and the
time."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from engine.serving.runs.presence import AWAY_SECONDS
from engine.serving.runs.queue import in_turn
from engine.serving.runs.queued import QueuedRun

# seconds after which a paused run leaves its worker; the second while others wait for a slot
PAUSED_FOR, PAUSED_WHILE_OTHERS_WAIT = 30.0, 2.0
WAITS_FOR = 60.0  # seconds without an open page of its owner after which a run leaves the queue
MAX_RETURNS = 3  # returns to the queue of a run that may have ended its worker, without having been saved meanwhile


class Leaving(NamedTuple):
    queue: list[QueuedRun]
    workers: list[QueuedRun]


def plan(
    waiting: Sequence[QueuedRun],
    on_workers: Sequence[QueuedRun],
    seconds_disconnected: Callable[[QueuedRun], float],
    shares_worker: Callable[[QueuedRun], bool],
    now: float,
) -> Leaving:
    """Plan the runs that leave: those that are paused, and those whose owner has left. If all runs got slots in turn (:func:`in_turn`),
    those on workers first and those of absent owners last of all, some would find none: these leave, too. So a crowd at
    one address gives a slot to a visitor from elsewhere who has at least two fewer.

    ``seconds_disconnected``: the time since a follower of the run last had a page open. ``shares_worker``: true if a run has no
    dedicated process.
    """

    def is_present(run: QueuedRun) -> bool:
        return seconds_disconnected(run) <= AWAY_SECONDS

    given_up = [run for run in waiting if not run.request.trial and seconds_disconnected(run) > WAITS_FOR]
    stay = [run for run in on_workers if not run.leaving]
    able = [run for run in stay if run.request.is_saved and run.stopped_at is None and now >= run.stays_until]
    longest = PAUSED_WHILE_OTHERS_WAIT if any(map(is_present, waiting)) else PAUSED_FOR
    still = [run for run in able if run.run.state == "paused" and not run.wants_to_go and now - run.active_at > longest]
    # One that has a single step to take stays until it has taken it.
    moving = [run for run in able if run.run.state == "running" and not run.early_steps and shares_worker(run)]
    fixed = [run for run in stay if run not in still and run not in moving]
    short = [run for run in waiting if is_present(run) and shares_worker(run)]
    if not short:
        return Leaving(given_up, still)
    order = in_turn([*filter(is_present, moving), *short], fixed)
    order += sorted((run for run in moving if not is_present(run)), key=seconds_disconnected)
    without = order[len(on_workers) - len(fixed) :]
    return Leaving(given_up, [*still, *(run for run in without if run in moving)])


def fate(queued: QueuedRun, *, blamed: bool, suspect: bool, closing: bool) -> Literal["over", "queue", "checkpoint"]:
    """``blamed``: the worker was ended for this run; ``suspect``: the run may have ended it. ``closing``: no other worker comes."""
    if queued.stopped_at is not None or blamed:
        return "over"
    if not closing and (queued.returns < MAX_RETURNS or not suspect):
        return "queue"
    return "checkpoint" if queued.request.is_saved else "over"
