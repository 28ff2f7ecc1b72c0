"""Child processes: what they are given, how messages pass, and how they end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from engine.foundation.child import ChildProcess, child_environment

PATIENCE = 240.0
TELL = """
import json, os, sys
print(json.dumps(dict(os.environ)), flush=True)
for line in sys.stdin:
    print(json.dumps(line.strip()), flush=True)
"""
"""A child that sends its environment, then every line that it gets, and exits at the end of its input."""


def write(stream: BinaryIO, line: str) -> None:
    stream.write(f"{line}\n".encode())
    stream.flush()


def read(stream: BinaryIO) -> Any:
    if not (line := stream.readline()):
        raise EOFError
    return json.loads(line)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


class Child:
    """A child, and its messages."""

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


def test_messages_pass_and_the_child_exits_at_the_end_of_its_input() -> None:
    child = Child(["-c", TELL])
    child.process.send("one")
    child.process.send("two")
    child.process.close()
    assert child.process.wait(PATIENCE)
    assert child.messages[1:] == ["one", "two"]
    assert (child.process.how_it_ended(), child.ends, child.process.memory()) == ("exit code 0", 1, 0)


def test_a_killed_child_and_one_that_exits_say_how() -> None:
    asleep, exits = Child(["-c", "import time; time.sleep(600)"]), Child(["-c", "import sys; sys.exit(3)"])
    asleep.process.kill()
    assert asleep.process.wait(PATIENCE)
    assert exits.process.wait(PATIENCE)
    assert (asleep.process.how_it_ended(), exits.process.how_it_ended()) == ("signal 9", "exit code 3")
    assert (asleep.ends, exits.ends) == (1, 1)


def test_a_child_whose_message_cannot_be_read_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    child = Child(["-c", "print('no json', flush=True); import time; time.sleep(600)"])
    assert child.process.wait(PATIENCE)
    assert (child.messages, child.ends) == ([], 1)
    assert "A message of a child process: JSONDecodeError" in caplog.text


def test_a_child_sees_no_secret_of_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secrets = (
        "DATABASE_URL",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "NVIDIA_API_KEY",
        "ATTENTION_LAB_FRAME_ANCESTORS",
    )
    for name in secrets:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    child = Child(["-c", TELL])
    child.process.close()
    assert child.process.wait(PATIENCE)
    [seen] = child.messages
    assert not seen.keys() & set(secrets)
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["ATTENTION_LAB_DATA"]) == ("1", str(tmp_path))
    assert seen["OMP_NUM_THREADS"] == "1"
    assert "secret" not in seen.values()


def test_a_default_gives_way_to_the_server_s_own_value_and_one_thread_does_not() -> None:
    own = {"MALLOC_TRIM_THRESHOLD_": "1", "OMP_NUM_THREADS": "8", "Path": "C:\\\\programs"}
    found = child_environment(own)
    assert (found["MALLOC_TRIM_THRESHOLD_"], found["MALLOC_MMAP_THRESHOLD_"]) == ("1", str(32 * 2**20))
    assert (found["OMP_NUM_THREADS"], found["Path"]) == ("1", own["Path"])
