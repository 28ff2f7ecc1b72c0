"""The log of the server and its workers: one logger. It names runs, workers and settings, and never what a reader typed."""

import logging
import sys
import time
import traceback
from collections.abc import Callable

LOG = logging.getLogger("attention_lab")
PER_MINUTE = {
    "asyncio": ("socket.accept() out of system resource",),
    "uvicorn.error": (
        "Exceeded concurrency limit.",
        "Invalid HTTP request received.",
        "Unsupported upgrade request.",
        "ASGI callable returned without completing handshake.",  # a websocket that was refused in words
    ),
    "pages.parts.web.middleware": ("A websocket was refused",),
}
"""The messages, by logger and first words, that a stranger can bring about as often as he likes: each fills the log at most once per
minute."""
_UNSAVED: dict[str, float] = {}
"""When each message of :func:`log_unsaved` may be logged again."""


def log_to_stderr() -> None:
    """Write the log to stderr, once in each process that serves or trains. A program that has set up the logger itself keeps that."""
    if LOG.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False


class OncePerMinute(logging.Filter):
    """Passes a message on unless one with the same first words, of those that are given, was passed on within the last minute."""

    def __init__(self, words: tuple[str, ...], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._words, self._clock = words, clock
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        message, now = record.getMessage(), self._clock()
        begun = next((words for words in self._words if message.startswith(words)), None)
        if begun is None:
            return True
        if now < self._next.get(begun, now):
            return False
        self._next[begun] = now + 60
        return True


def bound_floods() -> None:
    """Write each of :data:`PER_MINUTE` at most once per minute. To be called once, by a server."""
    for logger, words in PER_MINUTE.items():
        logging.getLogger(logger).addFilter(OncePerMinute(words))


def log_error(what: str, error: BaseException) -> None:
    """Log an error by its kind and the lines of code that it passed. Its message is left out where a reader's text may be in it;
    that of a system call has none."""
    kind = type(error).__name__
    detail = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    LOG.error("%s: %s%s\n%s", what, kind, detail, "".join(traceback.format_tb(error.__traceback__)).rstrip())


def log_unsaved(what: str, given: str, error: BaseException) -> None:
    """Log in one line that the disk does not take something: ``what`` names it, with the ``given`` name in place of ``%s``. Each ``what``
    is logged at most once per minute: a full disk refuses every run, again and again."""
    now = time.monotonic()
    if now >= _UNSAVED.get(what, now):
        _UNSAVED[what] = now + 60
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else type(error).__name__
        LOG.error(f"{what}: %s", given, reason)


def log_failure(what: str, error: BaseException) -> None:
    """Log why a run or a job failed: one line for a ValueError, which answers something that somebody typed, else as an error."""
    if isinstance(error, ValueError):
        LOG.info("%s: %s", what, type(error).__name__)
    else:
        log_error(what, error)
