"""Results that are computed once in a process."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from engine.foundation.once import once


def test_a_result_is_computed_once_however_many_ask_together() -> None:
    computed, together = list[int](), Barrier(8)

    @once
    def square(number: int) -> int:
        computed.append(number)
        return sum(number for _ in range(number))

    def ask(_: int) -> int:
        together.wait(60)
        return square(30_000)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(8))) == {30_000**2}
    assert square(2) == 4
    assert computed == [30_000, 2]
