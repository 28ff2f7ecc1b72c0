"""A run's process on another machine: the messages that it gets, and the files that are taken from it."""

from pathlib import Path
from threading import Event as Signal
from typing import Any

from engine.cluster.member import RemoteProcess
from engine.config.run_config import parse
from engine.estimate.prediction import predict
from engine.foundation.messages import read_value
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.workers import protocol

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
    process.send(protocol.Start("a" * 16, request, predict(CONFIG), str(tmp_path), saved_step=2))
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
