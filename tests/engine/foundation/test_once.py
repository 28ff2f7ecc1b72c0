"""Results that are computed once in a process."""

import time

from engine.foundation.once import once
from tests.engine.at_once import at_once


def test_a_result_is_computed_once_however_many_ask_together() -> None:
    computed = list[int]()

    @once
    def square(number: int) -> int:
        computed.append(number)
        time.sleep(0.1)
        return number**2

    assert at_once(lambda _: square(3), 8) == [9] * 8
    assert square(2) == 4
    assert computed == [3, 2]
