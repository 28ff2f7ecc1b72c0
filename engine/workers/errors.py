"""Why the pool does not take a run, or gives no answer: each says so in one sentence."""

from __future__ import annotations

from engine.foundation.errors import Explained


class Refused(Explained, ValueError):
    """The run was not started; the sentence says which setting to lower to what."""


class NoRoom(Refused):
    """There is no room now; later there may be."""


class JobError(Explained, RuntimeError):
    """A job failed; the sentence says why."""
