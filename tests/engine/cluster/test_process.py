"""What a run's process on another machine is told, and what is taken from it."""

from __future__ import annotations

from pathlib import Path
from threading import Event as Signal
from typing import Any

from engine.cluster.process import RemoteProcess
from engine.config.run_config import parse
from engine.estimate.prediction import predict
from engine.foundation.messages import read_value
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.workers import protocol


class Told(list[list[Any]]):
    """The messages to a relay; ``closed`` is set by the last."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = Signal()

    def append(self, item: list[Any]) -> None:
        super().append(item)
        if item[0] == "close":
            self.closed.set()


def test_neither_the_visitor_nor_the_address_is_sent(tmp_path: Path) -> None:
    told = Told()
    config = parse({"steps": 3})
    request = RunRequest(config, Visitor("0123456789abcdef", "203.0.113.9"), pace=7.0)
    process = RemoteProcess("one", [], told.append, lambda report: None, lambda: None)
    process.begin()
    process.send(protocol.Start("a" * 16, request, predict(config), str(tmp_path)))
    process.close()
    assert told.closed.wait(240)
    process.end("over")
    (body,) = [item[2] for item in told if item[0] == "send"]
    sent = read_value(body)
    assert sent.request.config == config
    assert sent.request.pace == 7.0
    assert b"203.0.113.9" not in body
    assert b"0123456789abcdef" not in body


def test_what_follows_a_start_whose_files_are_sent_comes_after_it(tmp_path: Path) -> None:
    told = Told()
    (tmp_path / "state.pt").write_bytes(bytes(5_000_000))
    config = parse({"steps": 3})
    process = RemoteProcess("one", [], told.append, lambda report: None, lambda: None)
    process.begin()
    process.send(protocol.Ping())
    process.send(protocol.Start("a" * 16, RunRequest(config), predict(config), str(tmp_path), saved_step=2))
    process.send(protocol.Control("a" * 16, "pause"))
    process.close()
    assert told.closed.wait(240)
    process.end("over")
    sent = [type(read_value(item[2])).__name__ if item[0] == "send" else item[0] for item in told]
    assert sent[:2] == ["start", "Ping"]
    assert set(sent[2:-3]) == {"file"}
    assert sent[-3:] == ["Start", "Control", "close"]


def test_a_process_that_sends_more_than_its_run_keeps_is_given_up(tmp_path: Path) -> None:
    told: list[list[Any]] = []
    ended = Signal()
    prediction = predict(parse({"steps": 3}))
    process = RemoteProcess("one", [], told.append, lambda report: None, ended.set)
    process.begin()
    process.send(protocol.Start("a" * 16, RunRequest(parse({"steps": 3})), prediction, str(tmp_path)))
    while not any(item[0] == "send" for item in told):
        assert not ended.wait(0.01)
    process.take("file", "a" * 16, "weights.safetensors", bytes(1000), True, False)
    process.take("file", "a" * 16, "weights.safetensors", bytes(prediction.peak + 2**20), False, True)
    assert ended.wait(240)
    assert ["kill", "one"] in told
    assert not (tmp_path / "weights.safetensors").exists()
