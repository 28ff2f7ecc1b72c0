"""Who asks, behind a proxy: its own address and scheme, however the connection's address is written, and nobody's who is not trusted."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from pages.parts.app.visitor import shared_address
from pages.parts.web.compose import serving
from pages.parts.web.live import visitor_of
from pages.parts.web.middleware import TRUSTED

FORWARDED = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.5"}


def served() -> ProxyHeadersMiddleware:
    """A page and a websocket that tell who asks, inside of the app's middleware and of uvicorn's own, as on the server."""

    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse(f"{request.url.scheme} {visitor_of(request).address}")

    async def socket(websocket: WebSocket) -> None:
        assert websocket.client is not None
        await websocket.accept()
        await websocket.send_text(f"{websocket.url.scheme} {websocket.client.host}")
        await websocket.close()

    def nothing(*_: object) -> None:
        pass

    arguments = serving(find=nothing, start=nothing, stop=nothing, health=dict, ask=nothing)
    app = Starlette(routes=[Route("/", page), WebSocketRoute("/socket", socket)], middleware=arguments["middleware"])
    return ProxyHeadersMiddleware(app)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("connection", "trusted"),
    [
        ("127.0.0.1", None),
        ("::ffff:127.0.0.1", None),
        ("::1", None),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("10.0.0.5", "10.0.0.5"),
        ("::ffff:10.0.0.5", "10.0.0.5"),
        ("::ffff:10.0.0.5", "10.0.0.0/8"),
    ],
)
def test_a_trusted_proxy_tells_who_asks(connection: str, trusted: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if trusted is not None:
        monkeypatch.setenv(TRUSTED, trusted)
    with TestClient(served(), client=(connection, 1), headers=FORWARDED) as client:
        page = client.get("/")
        assert page.text == "https 203.0.113.5"
        assert "Secure" in page.headers["set-cookie"].split("; ")
        with client.websocket_connect("/socket") as socket:
            assert socket.receive_text() == "wss 203.0.113.5"


@pytest.mark.parametrize("connection", ["10.0.0.5", "::ffff:10.0.0.5"])
def test_who_is_no_trusted_proxy_speaks_for_itself_only(connection: str) -> None:
    with TestClient(served(), client=(connection, 1), headers=FORWARDED) as client:
        page = client.get("/")
    assert page.text == "http 10.0.0.5"
    assert "Secure" not in page.headers["set-cookie"]


@pytest.mark.parametrize(
    ("host", "shared"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("::ffff:127.0.0.1", ""),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_visitors_are_counted_together_by_the_address_that_one_household_has(host: str, shared: str) -> None:
    assert shared_address(host) == shared
