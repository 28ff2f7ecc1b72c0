"""Results that are computed once in a process, whoever asks for them and however many at the same moment."""

from collections.abc import Callable
from functools import cache, wraps
from threading import RLock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def once(function: Callable[P, T]) -> Callable[P, T]:
    """The function with each of its results kept, by its arguments. Whoever asks while another thread computes waits for it:
    ``functools.cache`` alone lets a class that comes together compute the same thirty times."""
    kept, computing = cache(function), RLock()

    @wraps(function)
    def ask(*given: P.args, **named: P.kwargs) -> T:
        with computing:
            return kept(*given, **named)  # type: ignore[arg-type]  # what can be a key of the cache

    return ask
