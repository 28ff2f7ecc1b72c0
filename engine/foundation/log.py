"""The log of the server and its workers: one logger. It names runs, workers and settings, and never what a reader typed."""

import logging
import sys
import traceback

LOG = logging.getLogger("attention_lab")
FIRST = 4
"""The number of waiting runs from which the queue is worth a line."""


def log_to_stderr() -> None:
    """Write the log to stderr, once in each process that serves or trains. A program that has set up the logger itself keeps that."""
    if LOG.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False


def log_error(what: str, error: BaseException) -> None:
    """Log an error by its kind and the lines of code that it passed. Its message is left out where a reader's text may be in it;
    that of a system call has none."""
    kind = type(error).__name__
    detail = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    LOG.error("%s: %s%s\n%s", what, kind, detail, "".join(traceback.format_tb(error.__traceback__)).rstrip())


def log_failure(what: str, error: BaseException) -> None:
    """Log why a run or a job failed: one line for a ValueError, which answers something that somebody typed, else as an error."""
    if isinstance(error, ValueError):
        LOG.info("%s: %s", what, type(error).__name__)
    else:
        log_error(what, error)


class Queue:
    """Tells how long the queue is each time that it has doubled."""

    def __init__(self) -> None:
        self._next = FIRST

    def note(self, length: int) -> None:
        if length >= self._next:
            LOG.info("%d runs wait in the queue.", length)
            self._next = 2 * length
        elif length == 0:
            self._next = FIRST
