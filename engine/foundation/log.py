"""The log of the server and its workers: it names runs, workers and settings, never what a reader typed."""

import logging
import sys
import time
import traceback
from collections.abc import Callable

LOG = logging.getLogger("attention_lab")
# loggers of what strangers send, with those below them: each place fills the log at most once per minute
BOUNDED = ("asyncio", "uvicorn", "websockets", "streamlit", "pages")
_UNSAVED: dict[str, float] = {}


def log_to_stderr() -> None:
    """Set up the log once in each process that serves or trains. A program that has set up the logger itself keeps its handlers."""
    if LOG.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False


class OncePerMinute(logging.Filter):
    """Passes a message unless one from the same place passed within the last minute: the line that logs it and, for an
    error, the line that raised it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._next: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now, (kind, _, lines) = self._clock(), record.exc_info or (None, None, None)
        raised = [(frame.f_code, line) for frame, line in traceback.walk_tb(lines)][-1:]
        # All errors of an event loop are logged by one line of asyncio, whose first words are the library's own.
        words = record.getMessage().partition("\n")[0] if record.name == "asyncio" else ""
        origin = record.pathname, record.lineno, words, kind, *raised
        if now < self._next.get(origin, now):
            return False
        self._next[origin] = now + 60
        return True


def bound_floods() -> None:
    """To be called once, by a server that has imported what it needs."""
    once = OncePerMinute()
    for name in ("asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in BOUNDED:
            logging.getLogger(name).addFilter(once)


def log_error(what: str, error: BaseException) -> None:
    """Log an error by its kind and the lines of code that it passed."""
    kind = type(error).__name__
    # other messages may contain a reader's text; that of a system call has none
    detail = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    LOG.error("%s: %s%s\n%s", what, kind, detail, "".join(traceback.format_tb(error.__traceback__)).rstrip())


def log_unsaved(what: str, given: str, error: BaseException) -> None:
    """Log in one line that the disk does not take something: ``what`` names it, with the ``given`` name for ``%s``."""
    now = time.monotonic()
    # a full disk refuses every run, again and again
    if now >= _UNSAVED.get(what, now):
        _UNSAVED[what] = now + 60
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else type(error).__name__
        LOG.error(f"{what}: %s", given, reason)


def log_failure(what: str, error: BaseException) -> None:
    # it answers something that somebody typed
    if isinstance(error, ValueError):
        LOG.info("%s: %s", what, type(error).__name__)
    else:
        log_error(what, error)
