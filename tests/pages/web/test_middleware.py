from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config, net_util
from streamlit.web.server.starlette.starlette_websocket import create_websocket_routes
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from pages.parts.app.visitor import COOKIE, id_in, shared_address
from pages.parts.web.compose import serving
from pages.parts.web.live import visitor_of
from pages.parts.web.middleware import FRAMING, TRUSTED, inline_script_hashes, security_headers, set_cookie
from tests.tables import tables_beside

CASES = tables_beside(__file__)

FORWARDED = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.5"}
LetsIn, Configure = Callable[..., bool], Callable[[str, Any], None]


def around(*routes: Any) -> Starlette:
    """Routes inside of the app's middleware, as it is configured now."""
    made = serving(find=lambda _: None, start=list, stop=list, health=dict, ask=lambda *_: None)
    return Starlette(routes=routes, middleware=made["middleware"])


async def page(request: Request) -> HTMLResponse:
    return HTMLResponse(f"{request.url.scheme} {visitor_of(request).address}")


# Who asks


def proxied() -> ProxyHeadersMiddleware:
    """A page and a websocket that tell who asks, inside of uvicorn's middleware too, as on the server."""

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(f"{websocket.url.scheme} {websocket.client.host}")
        await websocket.close()

    return ProxyHeadersMiddleware(around(Route("/", page), WebSocketRoute("/socket", socket)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("connection", "trusted", "response_text"),
    [
        ("127.0.0.1", None, "https 203.0.113.5"),
        ("::ffff:127.0.0.1", None, "https 203.0.113.5"),
        ("::1", None, "https 203.0.113.5"),
        ("::ffff:127.0.0.1", "127.0.0.1", "https 203.0.113.5"),
        ("10.0.0.5", "10.0.0.5", "https 203.0.113.5"),
        ("::ffff:10.0.0.5", "10.0.0.5", "https 203.0.113.5"),
        ("::ffff:10.0.0.5", "10.0.0.0/8", "https 203.0.113.5"),
        ("10.0.0.5", None, "http 10.0.0.5"),
        ("::ffff:10.0.0.5", None, "http 10.0.0.5"),
    ],
)
def test_a_trusted_proxy_tells_who_asks_and_who_is_none_speaks_for_itself_only(
    connection: str, trusted: str | None, response_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if trusted is not None:
        monkeypatch.setenv(TRUSTED, trusted)
    with TestClient(proxied(), client=(connection, 1), headers=FORWARDED) as client:
        answer = client.get("/")
        assert answer.text == response_text
        assert ("Secure" in answer.headers["set-cookie"].split("; ")) == response_text.startswith("https")
        with client.websocket_connect("/socket") as socket:
            assert socket.receive_text() == response_text.replace("http", "ws")


@pytest.mark.parametrize(("host", "shared"), CASES["hosts"])
def test_visitors_are_counted_together_by_the_address_that_one_household_has(host: str, shared: str) -> None:
    assert shared_address(host) == shared


# The visitor's cookie


def test_each_browser_gets_a_cookie_with_its_first_page_and_its_id_does_not_tell_it() -> None:
    async def data(request: Request) -> JSONResponse:
        return JSONResponse({})

    app, ids = around(Route("/", page), Route("/data", data)), set()
    for browser in (TestClient(app), TestClient(app)):
        assert "set-cookie" not in browser.get("/data").headers
        given = browser.get("/").headers["set-cookie"]
        assert given.startswith(f"{COOKIE}=")
        assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(given.split("; "))
        assert "set-cookie" not in browser.get("/").headers
        name = id_in(browser.cookies)
        assert len(name) == 16
        assert name not in browser.cookies[COOKIE]
        ids.add(name)
    assert len(ids) == 2

    for value in ("", "short", "x" * 44, "ä" * 43, "../" * 14 + "x", "a" * 42 + ";"):
        assert id_in({COOKIE: value}) is None, "a cookie of another form is none"


def test_in_a_frame_of_another_site_the_cookie_is_sent_over_https_only() -> None:
    assert {"SameSite=None", "Secure", "Partitioned"} <= set(set_cookie(secure=True, framed=True).split("; "))
    assert {"SameSite=Lax", "Secure"} <= set(set_cookie(secure=True, framed=False).split("; "))
    assert "Secure" not in set_cookie(secure=False, framed=True)


def test_in_a_frame_of_another_site_streamlits_token_for_uploads_is_sent_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def health(_: Request) -> HTMLResponse:
        return HTMLResponse("ok", headers={"set-cookie": "_streamlit_xsrf=2|a|b|1; Path=/; SameSite=Lax"})

    def given(address: str) -> set[str]:
        client = TestClient(around(Route("/health", health)), base_url=address)
        (token,) = (
            each for each in client.get("/health").headers.get_list("set-cookie") if each.startswith("_streamlit_xsrf")
        )
        return set(token.split("; "))

    plain = {"_streamlit_xsrf=2|a|b|1", "Path=/", "SameSite=Lax"}
    assert given("https://lab.example.org") == plain
    monkeypatch.setenv(FRAMING, "'self' https://school.example")
    assert given("http://lab.example.org") == plain
    assert given("https://lab.example.org") == plain - {"SameSite=Lax"} | {"SameSite=None", "Secure", "Partitioned"}


# Under which names the app answers


def test_only_named_hosts_are_answered_and_addresses_in_digits(configure: Configure) -> None:
    def status(host: str) -> int:
        return TestClient(around(Route("/", page))).get("/", headers={"host": host}).status_code

    assert status("evil.example") == 200, "without a list each is"
    configure("server.allowedHosts", ["lab.example.org", "*.school.example"])
    for host in (
        "lab.example.org",
        "LAB.example.org:443",
        "a.school.example",
        "localhost:8501",
        "127.0.0.1",
        "10.1.2.3:8501",
        "[::1]:8501",
    ):
        assert status(host) == 200, host
    for host in (
        "evil.example",
        "lab.example.org.evil.example",
        "lab.example.org@evil.example",
        "127.0.0.1.evil.example",
        "[",
        "",
    ):
        assert status(host) == 400, host


# Which websites may open a websocket: Origin, Host and configuration alone decide, and Streamlit then asks nobody


@pytest.fixture
def configure() -> Iterator[Configure]:
    """Set an option of Streamlit; after the test it is as before."""
    before: list[tuple[str, Any, str]] = []

    def set_it(name: str, value: Any) -> None:
        before.append((name, config.get_option(name), config.get_where_defined(name)))
        config.set_option(name, value)

    yield set_it
    for option in reversed(before):
        config.set_option(*option)


@pytest.fixture
def lets_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[LetsIn]:
    """True if a handshake with these headers gets through the app's middleware and Streamlit's endpoint, which then does not look
    up the address of this machine."""
    peers: list[str] = []
    for name in ("get_external_ip", "get_internal_ip"):
        monkeypatch.setattr(net_util, name, lambda name=name: peers.append(name))

    def knock(origin: str | None, host: str = "lab.example.org") -> bool:
        client = TestClient(around(*create_websocket_routes(Mock(), None)))
        headers = {"host": host} | ({} if origin is None else {"origin": origin})
        try:
            with client.websocket_connect("/_stcore/stream", headers=headers):
                return True
        except WebSocketDisconnect:
            return False

    yield knock
    assert peers == []


@pytest.mark.parametrize(
    "origin",
    [
        "https://foreign.example", "null", "", "lab.example.org", "file://", "https://lab.example.org.foreign.example",
        "https://foreign.example/lab.example.org", "https://lab.example.org@foreign.example",
        "https://foreign.example@lab.example.org", "https://lab.example.org:8443", "https://lab.example.org:x",
        "https://[", "http://localhost:3000",
    ],
)  # fmt: skip
def test_a_foreign_website_is_refused(origin: str, lets_in: LetsIn) -> None:
    assert not lets_in(origin)


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
def test_the_apps_own_pages_and_programs_are_let_in(origin: str | None, host: str, lets_in: LetsIn) -> None:
    assert lets_in(origin, host)


def test_behind_a_proxy_that_changes_the_host_settings_name_the_origin(lets_in: LetsIn, configure: Configure) -> None:
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


def test_the_list_of_hosts_holds_and_without_protection_all_are_let_in(lets_in: LetsIn, configure: Configure) -> None:
    configure("server.allowedHosts", ["lab.example.org"])
    assert lets_in("https://lab.example.org", "lab.example.org")
    for origin in ("https://foreign.example", "http://localhost:8501", None):
        assert not lets_in(origin, "foreign.example")
    configure("server.enableCORS", False)
    assert lets_in("https://foreign.example")


# The headers


def test_every_answer_carries_the_policy_which_allows_streamlits_inline_script_by_its_hash() -> None:
    client = TestClient(around(Route("/", page)))
    hashes = inline_script_hashes()
    assert hashes
    assert all(source.startswith("'sha256-") for source in hashes)
    for address in ("/", "/nothing/here"):
        headers = client.get(address).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'self'"
        assert set(hashes) <= set(policy["script-src"].split())
        assert "unsafe-eval" not in policy["script-src"]
        assert "unsafe-inline" not in policy["script-src"]
        assert policy["frame-ancestors"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"


def test_a_host_may_let_a_course_page_frame_the_app() -> None:
    headers = security_headers("'self' https://school.example")
    assert "frame-ancestors 'self' https://school.example" in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers, "it knows no list and would forbid what the policy allows"
    for bad in ("'self'; script-src *", "a\nb", "a, b"):  # nobody writes another policy with the setting
        with pytest.raises(ValueError, match="ATTENTION_LAB_FRAME_ANCESTORS"):
            security_headers(bad)
