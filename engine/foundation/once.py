"""Results that are computed once in a process, also when several threads ask at the same moment."""

from collections.abc import Callable
from functools import lru_cache, update_wrapper, wraps
from pathlib import Path
from threading import RLock
from typing import Concatenate, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Once(Generic[P, T]):
    """A function that keeps its results by its arguments. A thread that calls it while another computes waits for that result."""

    __wrapped__: Callable[P, T]

    def __init__(self, function: Callable[P, T], most: int | None = None) -> None:  # None: all results are kept
        # lru_cache alone would let a class that comes together compute the same thirty times
        self._cached, self._computing = lru_cache(most)(function), RLock()
        update_wrapper(self, function)

    def __call__(self, *given: P.args, **named: P.kwargs) -> T:
        with self._computing:
            return self._cached(*given, **named)  # type: ignore[arg-type]  # what can be a key of the cache

    def cache_clear(self) -> None:
        self._cached.cache_clear()


def once(function: Callable[P, T]) -> Once[P, T]:
    return Once(function)


def once_of_latest(most: int) -> Callable[[Callable[P, T]], Once[P, T]]:
    return lambda function: Once(function, most)


def once_per_change(most: int) -> Callable[[Callable[Concatenate[Path, P], T]], Callable[Concatenate[Path, P], T]]:
    """Read a file once after each change of it: keep the latest ``most`` results by path, time, size and further
    arguments. Raises OSError if the file is not there."""

    def decorate(read: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
        @lru_cache(most)
        def read_then(changed: int, size: int, file: Path, /, *given: P.args, **named: P.kwargs) -> T:
            return read(file, *given, **named)

        @wraps(read)
        def read_now(file: Path, /, *given: P.args, **named: P.kwargs) -> T:
            stat = file.stat()
            return read_then(stat.st_mtime_ns, stat.st_size, file, *given, **named)  # type: ignore[arg-type]  # as above

        return read_now

    return decorate
