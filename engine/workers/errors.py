"""The errors of the pool; the message of each is one sentence for a person."""

from __future__ import annotations

from engine.foundation.errors import Explained


class Refused(Explained, ValueError):
    """The run was not started; the sentence says which setting to lower and to which value."""


class NoRoom(Refused):
    """The run was not started because the queue is full; later there may be room."""


class JobError(Explained, RuntimeError):
    """A job failed; the sentence says why."""
