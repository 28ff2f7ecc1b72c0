"""A run's process on another machine: the messages that it gets, and the files that are taken from it."""

import asyncio
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest

from engine.cluster import member
from engine.cluster.codec import write_chunk
from engine.cluster.member import Member, RemoteProcess
from engine.config.run_config import parse
from engine.estimate.prediction import predict
from engine.foundation.code_hash import program_hash
from engine.foundation.messages import read_value
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.workers import protocol
from tests.engine.full_disk import full

CONFIG = parse({"steps": 3})


def test_messages_come_in_order_a_run_after_its_files_and_without_visitor_and_address(tmp_path: Path) -> None:
    told, closed = list[list[Any]](), Signal()

    def tell(item: list[Any]) -> None:
        told.append(item)
        if item[0] == "close":
            closed.set()

    (tmp_path / "state.pt").write_bytes(bytes(5_000_000))
    request = RunRequest(CONFIG, Visitor("0123456789abcdef", "203.0.113.9"), pace=7.0)
    process = RemoteProcess("one", [], tell, lambda report: None, lambda: None)
    process.begin()
    process.send(protocol.Ping())
    process.send(protocol.Start("a" * 16, request, predict(CONFIG), str(tmp_path), seen=2))
    process.send(protocol.Control("a" * 16, "pause"))
    process.close()
    assert closed.wait(240)
    process.end("over")
    sent = [type(read_value(item[2])).__name__ if item[0] == "send" else item[0] for item in told]
    assert sent[:2] == ["start", "Ping"]
    assert set(sent[2:-3]) == {"file"}
    assert sent[-3:] == ["Start", "Control", "close"]
    start = read_value(told[-3][2])
    assert (start.request.config, start.request.pace) == (CONFIG, 7.0)
    for secret in (b"203.0.113.9", b"0123456789abcdef"):
        assert secret not in told[-3][2]


def test_a_process_that_sends_more_than_its_run_keeps_is_given_up(tmp_path: Path) -> None:
    told: list[list[Any]] = []
    ended = Signal()
    prediction = predict(CONFIG)
    process = RemoteProcess("one", [], told.append, lambda report: None, ended.set)
    process.begin()
    process.send(protocol.Start("a" * 16, RunRequest(CONFIG), prediction, str(tmp_path)))
    while not any(item[0] == "send" for item in told):
        assert not ended.wait(0.01)
    process.handle("file", "a" * 16, "weights.safetensors", bytes(1000), True, False)
    process.handle("file", "a" * 16, "weights.safetensors", bytes(prediction.peak + 2**20), False, True)
    assert ended.wait(240)
    assert ["kill", "one"] in told
    assert not (tmp_path / "weights.safetensors").exists()


def test_a_file_that_the_disk_does_not_take_ends_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[Any]] = []
    ended, kept = Signal(), tmp_path / "state.pt"
    process = RemoteProcess("one", [], told.append, lambda report: None, ended.set)
    process.begin()
    process.send(protocol.Start("a" * 16, RunRequest(CONFIG), predict(CONFIG), str(tmp_path)))
    while not any(item[0] == "send" for item in told):
        assert not ended.wait(0.01)
    written = iter([write_chunk, write_chunk, full])  # the second file begins with a piece that the disk does not take
    monkeypatch.setattr(member, "write_chunk", lambda *given: next(written, write_chunk)(*given))
    for content in (b"old", b"lost", b"new!"):
        process.handle("file", "a" * 16, kept.name, content[:2], True, False)
        process.handle("file", "a" * 16, kept.name, content[2:], False, True)
        if content == b"lost":
            process.handle("file", "a" * 16, "weights.safetensors", b"other", True, True)
            while not (tmp_path / "weights.safetensors").exists():
                assert not ended.wait(0.01)
            assert kept.read_bytes() == b"old"
    while kept.read_bytes() != b"new!":
        assert not ended.wait(0.01)
    process.end("over")
    assert ended.wait(240)


def test_a_process_that_is_launched_while_its_worker_leaves_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    leaving, ready, ended = Signal(), Signal(), Signal()
    members: list[Member] = []

    async def call(do: str, **_: Any) -> Any:
        if do == "begin":
            return {"code": program_hash()}
        while not leaving.is_set():
            await asyncio.sleep(0.001)
        raise ConnectionResetError

    async def live() -> None:
        members.append(Member("one", slots=1, memory=2**30))
        with pytest.raises(ConnectionResetError):
            await members[0].live(call, ready.set)

    there = Thread(target=asyncio.run, args=[live()])

    def remote(*given: Any) -> RemoteProcess:
        leaving.set()
        there.join(0.5)  # the worker leaves between the look at it and the process's entry, if it can
        return RemoteProcess(*given)

    monkeypatch.setattr(member, "RemoteProcess", remote)
    there.start()
    assert ready.wait(240)
    process = members[0].launch("worker", [], lambda report: None, ended.set)
    there.join()
    process.begin()
    assert process.wait(20)
    assert ended.is_set()
