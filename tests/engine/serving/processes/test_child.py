import json
from collections.abc import Sequence
from typing import Any, BinaryIO

import pytest

from engine.serving.processes.child import ChildProcess, child_environment
from tests.engine.serving.test_pool import PATIENCE


def write(stream: BinaryIO, line: str) -> None:
    stream.write(f"{line}\n".encode())
    stream.flush()


def read(stream: BinaryIO) -> Any:
    if not (line := stream.readline()):
        raise EOFError
    return json.loads(line)


class Child:
    def __init__(self, command: Sequence[str], *, begin: bool = True) -> None:
        self.messages: list[Any] = []
        self.ends = 0
        self.process: ChildProcess[str, Any] = ChildProcess(
            "test", command, write=write, read=read, on_message=self.messages.append, on_end=self.count_end
        )
        if begin:
            self.process.begin()

    def count_end(self) -> None:
        self.ends += 1


def test_a_child_whose_message_cannot_be_read_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    child = Child(["-c", "print('no json', flush=True); import time; time.sleep(600)"])
    assert child.process.wait(PATIENCE)
    assert (child.messages, child.ends) == ([], 1)
    assert "A message of a child process: JSONDecodeError" in caplog.text


def test_a_default_gives_way_to_the_server_s_own_value_and_one_thread_does_not() -> None:
    environment = {"MALLOC_TRIM_THRESHOLD_": "1", "OMP_NUM_THREADS": "8", "Path": "C:\\\\programs"}
    found = child_environment(environment)
    assert (found["MALLOC_TRIM_THRESHOLD_"], found["MALLOC_MMAP_THRESHOLD_"]) == ("1", str(32 * 2**20))
    assert found["LRU_CACHE_CAPACITY"] == found["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "64"
    assert (found["OMP_NUM_THREADS"], found["Path"]) == ("1", environment["Path"])
