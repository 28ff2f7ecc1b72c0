"""Which websites may open a websocket: Origin, Host and configuration alone decide, and Streamlit then asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit import config, net_util
from streamlit.web.server.starlette.starlette_websocket import create_websocket_routes

from pages.parts.web.compose import serving

LetsIn = Callable[..., bool]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes each time Streamlit wants to find out the address of this machine."""
    asking: list[str] = []
    for name in ("get_external_ip", "get_internal_ip"):
        monkeypatch.setattr(net_util, name, lambda name=name: asking.append(name))
    return asking


@pytest.fixture
def configure() -> Iterator[Callable[[str, Any], None]]:
    """Set an option of Streamlit; after the test it is as before."""
    before: list[tuple[str, Any, str]] = []

    def set_it(name: str, value: Any) -> None:
        before.append((name, config.get_option(name), config.get_where_defined(name)))
        config.set_option(name, value)

    yield set_it
    for option in reversed(before):
        config.set_option(*option)


@pytest.fixture
def lets_in(asked: list[str]) -> LetsIn:
    """Whether a handshake with these headers gets through the app's middleware and Streamlit's own endpoint."""

    def knock(origin: str | None, host: str = "lab.example.org") -> bool:
        middleware = serving(
            find=lambda _: None, start=lambda: None, stop=lambda: None, health=dict, ask=lambda *_: None
        )["middleware"]
        client = TestClient(Starlette(routes=create_websocket_routes(Mock(), None), middleware=middleware))
        headers = {"host": host} | ({} if origin is None else {"origin": origin})
        try:
            with client.websocket_connect("/_stcore/stream", headers=headers):
                return True
        except WebSocketDisconnect:
            return False

    return knock


@pytest.mark.parametrize(
    "origin",
    [
        "https://foreign.example", "null", "", "lab.example.org", "file://", "https://lab.example.org.foreign.example",
        "https://foreign.example/lab.example.org", "https://lab.example.org@foreign.example",
        "https://foreign.example@lab.example.org", "https://lab.example.org:8443", "https://lab.example.org:x",
        "https://[", "http://localhost:3000",
    ],
)  # fmt: skip
def test_a_foreign_website_is_refused_and_nobody_is_asked(origin: str, lets_in: LetsIn, asked: list[str]) -> None:
    assert not lets_in(origin)
    assert asked == []


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, "lab.example.org"),  # a program, not a website
        ("https://lab.example.org", "lab.example.org"),  # TLS ends at a proxy
        ("https://lab.example.org", "lab.example.org:443"),
        ("http://lab.example.org", "LAB.example.org:80"),
        ("https://lab.example.org:8443", "lab.example.org:8443"),
        ("http://127.0.0.1:8501", "127.0.0.1:8501"),
        ("http://[::1]:8501", "[::1]:8501"),
        ("http://localhost:8501", "127.0.0.1:8501"),  # what `streamlit run` prints, of the very same server
    ],
)
def test_the_apps_own_pages_and_programs_are_let_in(
    origin: str | None, host: str, lets_in: LetsIn, asked: list[str]
) -> None:
    assert lets_in(origin, host)
    assert asked == []


def test_behind_a_proxy_that_changes_the_host_the_configuration_names_the_origin(
    lets_in: LetsIn, asked: list[str], configure: Callable[[str, Any], None]
) -> None:
    inside = "127.0.0.1:8501"
    assert not lets_in("https://lab.example.org", inside)
    configure("server.corsAllowedOrigins", ["https://lab.example.org", "other.example"])
    assert lets_in("https://lab.example.org", inside)
    assert lets_in("https://other.example", inside)
    assert not lets_in("http://lab.example.org", inside), "as it was named, with its scheme"
    assert not lets_in("https://third.example", inside)
    configure("browser.serverAddress", "third.example/lab")
    assert lets_in("https://third.example", inside)
    assert lets_in("http://third.example:8501", inside)
    assert not lets_in("https://third.example:8443", inside)
    assert asked == []


def test_the_list_of_hosts_holds_whatever_the_origin(lets_in: LetsIn, configure: Callable[[str, Any], None]) -> None:
    configure("server.allowedHosts", ["lab.example.org"])
    assert lets_in("https://lab.example.org", "lab.example.org")
    assert not lets_in("https://foreign.example", "foreign.example")
    assert not lets_in("http://localhost:8501", "foreign.example")
    assert not lets_in(None, "foreign.example")


def test_who_switches_the_protection_off_lets_everybody_in(
    lets_in: LetsIn, configure: Callable[[str, Any], None]
) -> None:
    configure("server.enableCORS", False)
    assert lets_in("https://foreign.example")
