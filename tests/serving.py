"""The server of the maintainers' programs, and the handshakes that a browser makes with it."""

import base64
import os
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

from tools.server import ROOT, SPEED, free_port, sign_of, start_server

__all__ = ["ROOT", "SPEED", "free_port", "handshake", "sign_of", "start_server"]


def handshake(address: str, host: str, origin: str | None) -> int:
    """The status with which the server answers a websocket handshake: 101 if it lets the client in.

    ``host`` and ``origin`` are the values of the headers; None leaves the origin out, as programs do.
    """
    key = base64.b64encode(os.urandom(16)).decode()
    headers = {"Host": host, "Connection": "Upgrade", "Upgrade": "websocket"}
    headers |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
    if origin is not None:
        headers["Origin"] = origin
    with closing(HTTPConnection(urlsplit(address).netloc, timeout=240)) as connection:
        connection.request("GET", f"{urlsplit(address).path}_stcore/stream", headers=headers)
        return connection.getresponse().status
