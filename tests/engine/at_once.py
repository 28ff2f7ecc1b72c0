from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

Result = TypeVar("Result")


def at_once(act: Callable[[int], Result], number: int = 30) -> list[Result]:
    """The results of the threads by their numbers; none begins before all are there."""
    together = Barrier(number)

    def begin(index: int) -> Result:
        together.wait(60)
        return act(index)

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(begin, range(number)))
