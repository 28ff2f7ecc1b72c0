"""An address in other letters leads to the page that it can only mean, with all that the link says."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.parts.web.static_files import PageAddress


def client(prefix: str) -> TestClient:
    there = Middleware(PageAddress, prefix=prefix, addresses=lambda: ["lab", "memory-and-time"])
    page = Route("/{path:path}", lambda request: PlainTextResponse(str(request.url)))
    return TestClient(Starlette(routes=[page], middleware=[there]), base_url="http://here")


@pytest.mark.parametrize("prefix", ["", "/deep"])
@pytest.mark.parametrize(
    ("given", "opened"),
    [
        ("Lab?task=sort&text=%C3%A4", "lab?task=sort&text=%C3%A4"),
        ("LAB", "lab"),
        ("memory_and_time", "memory-and-time"),
        ("Memory-And_Time?d_model=64", "memory-and-time?d_model=64"),
        ("lab?task=sort", "lab?task=sort"),
        ("Labs", "Labs"),
        ("_stcore/health", "_stcore/health"),
        ("Lab/", "Lab/"),
        ("", ""),
    ],
)
def test_it_leads_on_where_one_page_can_be_meant(prefix: str, given: str, opened: str) -> None:
    assert client(prefix).get(f"{prefix}/{given}").text == f"http://here{prefix}/{opened}"
    assert client(prefix).post(f"{prefix}/{given}", follow_redirects=False).status_code == 405
