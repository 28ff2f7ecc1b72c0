"""A page's jobs for workers, counted among those of its visitor: asked each time, or once for all sessions."""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar, cast

from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from engine.foundation.errors import NoRoom
from engine.foundation.job import AnswerT, Job
from pages.parts.app import server
from pages.parts.app.turn import out_of_turn
from pages.parts.app.visitor import visitor

R = TypeVar("R")
ANSWER_SECONDS = 90.0  # also for a worker to start
MAX_ANSWERS = 256


def ask(job: Job[AnswerT], *, alone: bool = False, timeout: float = 30.0) -> AnswerT:
    """Return the answer to a job; see :meth:`engine.serving.pool.Pool.ask`. Raises JobError with one sentence."""
    with out_of_turn():
        server.wake()  # a link to any page may be the first request to the server
        return server.pool().ask(job, visitor(), alone=alone, timeout=timeout)


def ask_once(job: Job[AnswerT], as_of: Hashable = None, *, timeout: float = ANSWER_SECONDS) -> AnswerT:
    """Return the answer to a job, cached for all sessions. ``as_of``: all else that the answer depends on, such as the
    time of a file."""
    return _ANSWERS.get((job, as_of), lambda: ask(job, timeout=timeout))


def if_known(job: Job[AnswerT]) -> AnswerT | None:
    return cast(AnswerT | None, _ANSWERS.if_known((job, None)))


def asking_threads(most: int) -> ThreadPoolExecutor:
    """Return threads in which this page can ask several questions at once: they know the page's visitor."""
    return ThreadPoolExecutor(most, initializer=add_script_run_ctx, initargs=(None, get_script_run_ctx()))


class SharedCache:
    """A cache of the ``most`` values used last, for all sessions. Each session gets its own copy. A session that asks
    for a value while another computes it waits for that one. Errors are not cached.

    Unlike ``st.cache_data`` it can say whether it has a value, and finds a config by its equality.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Future[bytes]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, find: Callable[[], R]) -> R:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            else:
                mine = self._values[key] = Future()
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
        if value is not None:
            try:
                with out_of_turn():  # the session that computes it may wait for its turn
                    packed = value.result()
            except CancelledError:
                return self.get(key, find)
            return cast(R, pickle.loads(packed))
        try:
            result = find()
            mine.set_result(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))
        except BaseException as error:
            with self._lock:
                if self._values.get(key) is mine:
                    del self._values[key]
            if isinstance(error, Exception) and not isinstance(error.__cause__, NoRoom):
                mine.set_exception(error)
            else:  # a refusal, or a rerun of the script, concerns this session only: the others ask themselves
                mine.cancel()
            raise
        return result

    def if_known(self, key: Hashable) -> Any:
        value = self._future(key)
        return None if value is None else pickle.loads(value.result())

    def knows(self, key: Hashable) -> bool:
        """True if :meth:`if_known` has a value; this copies nothing."""
        return self._future(key) is not None

    def _future(self, key: Hashable) -> Future[bytes] | None:
        with self._lock:
            value = self._values.get(key)
        known = value is not None and value.done() and not value.cancelled() and not value.exception()
        return value if known else None


_ANSWERS = SharedCache(MAX_ANSWERS)
