import time
from pathlib import Path

import pytest

from engine.foundation.once import once, once_of_latest, once_per_change
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


def test_the_oldest_of_too_many_results_is_computed_again() -> None:
    computed = list[int]()

    @once_of_latest(2)
    def square(number: int) -> int:
        computed.append(number)
        return number**2

    assert [square(number) for number in (1, 2, 2, 3, 1)] == [1, 4, 4, 9, 1]
    assert computed == [1, 2, 3, 1]
    square.cache_clear()
    assert square(1) == 1
    assert len(computed) == 5


def test_a_file_is_read_once_after_each_change(tmp_path: Path) -> None:
    file, read = tmp_path / "file", list[str]()

    @once_per_change(8)
    def text(file: Path, ending: str) -> str:
        read.append(ending)
        return file.read_text() + ending

    with pytest.raises(FileNotFoundError):
        text(file, "!")
    file.write_text("one")
    assert [text(file, ending) for ending in ("!", "!", "?")] == ["one!", "one!", "one?"]
    file.write_text("three")
    assert [text(file, "!") for _ in range(2)] == ["three!", "three!"]
    assert read == ["!", "?", "!"]
