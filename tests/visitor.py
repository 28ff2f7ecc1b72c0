"""A visitor without a screen: speaks with the server as Streamlit's script in the browser does, over its websocket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

PATIENCE = 240.0
"""Seconds to wait for a message, on a machine that is busy with other things."""

COMPLETE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)
"""How a run of the script ends when no other follows at once."""


class Visitor:
    """One session. ``query`` is what the address bar shows after the question mark."""

    def __init__(self, socket: ClientConnection) -> None:
        self.query = ""
        self._page = ""
        self._buttons: dict[str, str] = {}
        self._socket = socket

    def open(self, page: str, query: str = "") -> None:
        """Open a page by the last part of its address; returns once it is complete."""
        self._page, self.query = page, query
        self._run()

    def press(self, label: str) -> None:
        """Press the button with this label; returns once the page is complete again.

        Once after ``open``: for a second press a browser sends the values of all other widgets along, which this does not.
        """
        self._run(pressed=self._buttons[label])

    @property
    def run_id(self) -> str:
        """The run that the page shows."""
        return parse_qs(self.query)["run"][0]

    def _run(self, pressed: str = "") -> None:
        order = BackMsg()
        order.rerun_script.query_string = self.query
        order.rerun_script.page_name = self._page
        if pressed:
            order.rerun_script.widget_states.widgets.add(id=pressed, trigger_value=True)
        self._socket.send(order.SerializeToString())
        message = self._hear()
        while not (message.HasField("script_finished") and message.script_finished in COMPLETE):
            message = self._hear()

    def _hear(self) -> Any:
        message: Any = ForwardMsg()
        message.ParseFromString(self._socket.recv(PATIENCE, decode=False))
        match message.WhichOneof("type"):
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "delta" if message.delta.new_element.HasField("button"):
                button = message.delta.new_element.button
                self._buttons[button.label] = button.id
        return message


@contextmanager
def visiting(address: str) -> Iterator[Visitor]:
    """A new session with the app at this address, which has a slash at its end; the session is left at the end."""
    place = urlsplit(address)
    with connect(
        f"ws://{place.netloc}{place.path}_stcore/stream",
        origin=Origin(f"http://{place.netloc}"), subprotocols=[Subprotocol("streamlit")],
        max_size=None, proxy=None, open_timeout=PATIENCE,
    ) as socket:  # fmt: skip
        yield Visitor(socket)
