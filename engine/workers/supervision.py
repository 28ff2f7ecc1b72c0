"""When a worker has to go: it hangs, or it takes too much memory."""

from __future__ import annotations

from collections.abc import Iterable

from engine.foundation.formatting import in_bytes, in_time
from engine.workers.limits import Limits
from engine.workers.process import Child, Verdict
from engine.workers.protocol import Stop

START_SECONDS = 120.0
"""A worker that is not warm by then is ended."""


def end_the_stuck(children: Iterable[Child], limits: Limits, now: float) -> None:
    """End workers in which a run does not yield: after the grace time where a stop was asked for, else much later.

    A job has a time limit of its own, which its asker keeps.
    """
    for child in children:
        if not child.ready:
            if now - child.born > START_SECONDS:
                child.kill(Verdict("was not ready in time"))
            continue
        if child.doing is None or child.doing in child.jobs:
            continue
        silent = now - child.heard
        asked = [now - ticket.stop_asked for ticket in child.tickets.values() if ticket.stop_asked is not None]
        if min(silent, max(asked, default=0.0)) > limits.grace_seconds or silent > limits.silent_seconds:
            child.kill(Verdict(f"did not come back for {in_time(silent)}", child.doing))


def stop_the_forgotten(children: Iterable[Child], limits: Limits, now: float) -> None:
    """Stop runs that were left paused, so that their memory and their place are free."""
    for child in children:
        for ticket in child.tickets.values():
            if ticket.paused_at is not None and now - ticket.paused_at > limits.paused_seconds:
                ticket.paused_at = None
                child.send(Stop(ticket.run.id, f"It was left paused for {in_time(limits.paused_seconds)}."))


def end_the_greedy(children: Iterable[Child], limits: Limits) -> None:
    """End workers above the memory limit, and replace idle ones that have grown half way to it."""
    for child in children:
        if not child.ready:
            continue
        used, allowed = child.memory(), int(limits.worker_memory)
        busy = list(child.tickets) + list(child.jobs)
        if busy and used > allowed:
            culprit = busy[0] if len(busy) == 1 else None
            child.kill(Verdict(f"used {in_bytes(used)} of memory, where {in_bytes(allowed)} are allowed,", culprit))
        elif not busy and used > (child.first_memory + allowed) / 2 and child.first_memory < allowed:
            child.kill(Verdict("had grown"))
