import io
import sys

import pytest

from engine.serving.processes.messages import read_value, receive, send
from engine.serving.protocol import RunUpdate

PICKLED_TENSOR_CLASS = b"ctorch\nTensor\n."
PICKLED_DEEPER = b"ctorch._utils\n_rebuild_tensor_v2\n."


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
