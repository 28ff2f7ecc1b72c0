"""A cache of workers' answers for all sessions. Each session gets a copy of its own."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from functools import update_wrapper
from threading import Lock
from typing import Generic, ParamSpec, TypeVar, cast

from pages.parts.app.turn import out_of_turn

P = ParamSpec("P")
R = TypeVar("R")


class Remembered(Generic[P, R]):
    """A cached function whose answer depends on its (hashable) arguments alone. The ``most`` answers used last are kept, and
    a session that asks while another waits for the same answer waits with it. Errors are not cached.

    Unlike ``st.cache_data`` it can tell whether an answer is cached, and finds a config by its equality.
    """

    def __init__(self, function: Callable[P, R], most: int) -> None:
        self._function, self._most = function, most
        self._answers: OrderedDict[Hashable, Future[bytes]] = OrderedDict()
        self._lock = Lock()
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        key = _key(args, kwargs)
        with self._lock:
            answer = self._answers.get(key)
            if answer is not None:
                self._answers.move_to_end(key)
            else:
                mine = self._answers[key] = Future()
                while len(self._answers) > self._most:
                    self._answers.popitem(last=False)
        if answer is not None:
            with out_of_turn():  # who computes it may wait for its turn
                packed = answer.result()
            return cast(R, pickle.loads(packed))
        try:
            found = self._function(*args, **kwargs)
            mine.set_result(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
        except BaseException as error:
            with self._lock:
                if self._answers.get(key) is mine:
                    del self._answers[key]
            mine.set_exception(error)
            raise
        return found

    def if_known(self, *args: P.args, **kwargs: P.kwargs) -> R | None:
        """The cached answer; None where a worker would have to be asked."""
        with self._lock:
            answer = self._answers.get(_key(args, kwargs))
        return cast(R, pickle.loads(answer.result())) if answer and answer.done() and not answer.exception() else None


def remembered(most: int) -> Callable[[Callable[P, R]], Remembered[P, R]]:
    """The decorator form of :class:`Remembered`; ``most`` answers are kept."""
    return lambda function: Remembered(function, most)


def _key(args: tuple[object, ...], kwargs: dict[str, object]) -> Hashable:
    return (*args, *sorted(kwargs.items()))
