"""The visitor's cookie: one for each browser, and a secret."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.parts.app.visitor import COOKIE, id_in
from pages.parts.web.middleware import VisitorCookie, set_cookie


async def page(request: Request) -> HTMLResponse:
    return HTMLResponse("a page")


async def data(request: Request) -> JSONResponse:
    return JSONResponse({})


def browser() -> TestClient:
    middleware = [Middleware(VisitorCookie, framed=False)]
    return TestClient(Starlette(routes=[Route("/", page), Route("/data", data)], middleware=middleware))


def test_the_first_page_sets_the_cookie_and_later_ones_leave_it() -> None:
    visitor = browser()
    assert "set-cookie" not in visitor.get("/data").headers
    given = visitor.get("/").headers["set-cookie"]
    assert given.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(given.split("; "))
    assert "set-cookie" not in visitor.get("/").headers


def test_two_browsers_are_two_visitors_whose_ids_do_not_tell_their_cookies() -> None:
    ids = set()
    for visitor in (browser(), browser()):
        visitor.get("/")
        ids.add(id_in(visitor.cookies))
    assert len(ids) == 2
    assert None not in ids
    name = id_in(visitor.cookies)
    assert name is not None
    assert name not in visitor.cookies[COOKIE]
    assert len(name) == 16


@pytest.mark.parametrize("value", ["", "short", "x" * 44, "ä" * 43, "../" * 14 + "x", "a" * 42 + ";"])
def test_a_cookie_of_another_form_is_none(value: str) -> None:
    assert id_in({COOKIE: value}) is None


def test_in_a_frame_of_another_site_it_is_sent_over_https_only() -> None:
    assert {"SameSite=None", "Secure", "Partitioned"} <= set(set_cookie(secure=True, framed=True).split("; "))
    assert {"SameSite=Lax", "Secure"} <= set(set_cookie(secure=True, framed=False).split("; "))
    assert "Secure" not in set_cookie(secure=False, framed=True)
