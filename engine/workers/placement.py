"""Which worker takes a run or a job."""

from __future__ import annotations

from collections.abc import Iterable

from engine.workers.process import Child, Job, Ticket


def worker_for_run(children: Iterable[Child], ticket: Ticket, most: int) -> Child | None:
    """The worker with the fewest runs that take turns; None while all are full or held by a run that wants to be alone.

    A run that needs an accelerator goes to a worker that owns one. Where none does, any worker takes it, and says in
    its own words that the device is missing.
    """
    ready = [child for child in children if child.open]
    if ticket.accelerator:
        ready = [child for child in ready if child.owns_accelerator] or ready
    room = [child for child in ready if not child.held_alone and len(child.tickets) < most]
    return min(room, key=lambda child: (child.load, child.slot), default=None)


def worker_for_job(children: Iterable[Child], job: Job) -> Child | None:
    """The worker that can answer soonest; None while none is ready.

    A job that wants to be alone has its worker to itself anyway while it computes; one without runs is taken first,
    so that nobody waits for it.
    """

    def order(child: Child) -> tuple[int, int, int, int]:
        alone_first = child.load if job.alone else 0
        return len(child.jobs), alone_first, child.held_alone, child.load

    return min((child for child in children if child.open), key=order, default=None)
