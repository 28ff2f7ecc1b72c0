"""Messages over a pipe: whole or not at all, and nothing of torch."""

import io
import sys

import numpy as np
import pytest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.foundation.messages import read_value, receive, send
from engine.runs.events import Progress, Snapshot
from engine.runs.request import RunRequest
from engine.workers.protocol import Ask, RunUpdate, Start
from tests.engine.fake_training import Add

PICKLED_TENSOR_CLASS = b"ctorch\nTensor\n."
PICKLED_DEEPER = b"ctorch._utils\n_rebuild_tensor_v2\n."


def test_messages_arrive_in_order_and_equal_to_the_last_bit() -> None:
    config = RunConfig().replace(pos_encoding="alibi", n_heads=4, test_lengths=(8, 9))
    pattern = np.random.rand(2, 3, 4, 4).astype(np.float32)
    messages = [
        Start("a", RunRequest(config, pace=2.0), predict(config), "/folder"),
        Ask("b", Add(1, b=2)),
        RunUpdate("a", [Progress(1, 2.0, 3.0, 4.0, 5.0)]),
        RunUpdate("a", state="paused"),
        RunUpdate("a", [Snapshot(1, {"self": pattern}, {}, [])]),
    ]
    pipe = io.BytesIO()
    for message in messages:
        send(pipe, message)
    pipe.seek(0)
    *received, looked = [receive(pipe) for _ in messages]
    assert received == messages[:-1]
    arrived = looked.events[0].patterns["self"]
    assert arrived.dtype == np.float32
    assert np.array_equal(arrived, pattern)


@pytest.mark.parametrize("cut", [0, 3, 8, 20])
def test_a_message_cut_off_is_the_end(cut: int) -> None:
    pipe = io.BytesIO()
    send(pipe, RunUpdate("a", state="paused"))
    with pytest.raises(EOFError):
        receive(io.BytesIO(pipe.getvalue()[:cut]))


@pytest.mark.parametrize("body", [PICKLED_TENSOR_CLASS, PICKLED_DEEPER])
def test_nothing_of_torch_is_read(body: bytes) -> None:
    had_torch = "torch" in sys.modules
    with pytest.raises(TypeError, match="numpy"):
        read_value(body)
    assert ("torch" in sys.modules) == had_torch
