from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.parts.web.static_files import FOLDER, PARTS, PackedFiles, PageAddress, StyledPage

ONWARD = "from the server"
CLIENT = TestClient(
    Starlette(
        routes=[Route("/{path:path}", lambda request: PlainTextResponse(ONWARD))],
        middleware=[Middleware(PackedFiles, prefix="/deep")],
    )
)


def largest(suffix: str) -> Path:
    return max(FOLDER.rglob(f"*{suffix}"), key=lambda file: file.stat().st_size)


@pytest.mark.parametrize(("suffix", "media"), [(".js", "text/javascript"), (".css", "text/css")])
def test_a_text_file_is_compressed_for_who_takes_it_and_kept_for_ever(suffix: str, media: str) -> None:
    file = largest(suffix)
    address = f"/deep/static/{file.relative_to(FOLDER)}"
    answer = CLIENT.get(address, headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].startswith(media)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == file.read_bytes()
    assert int(answer.headers["content-length"]) < file.stat().st_size / 2
    assert CLIENT.get(address, headers={"Accept-Encoding": "identity"}).text == ONWARD


@pytest.mark.parametrize("path", ["js/none.js", "", "js", "../index.html", "%2e%2e/index.html", "/etc/passwd"])
def test_all_else_goes_on(path: str) -> None:
    assert CLIENT.get(f"/deep/static/{path}", headers={"Accept-Encoding": "gzip"}).text == ONWARD
    assert CLIENT.get(f"/static/{largest('.js').relative_to(FOLDER)}").text == ONWARD
    font = largest(".woff2").relative_to(FOLDER)
    assert CLIENT.get(f"/deep/static/{font}", headers={"Accept-Encoding": "gzip"}).text == ONWARD


def test_the_page_comes_with_the_styles_of_all_pages_and_is_never_that_of_an_earlier_version() -> None:
    def streamlits(request: Request) -> Response:
        if request.path_params["path"] == "text":
            return PlainTextResponse(f"asked with {request.headers.get('if-none-match')}")
        if request.path_params["path"] == "report":
            return HTMLResponse("a report")
        return HTMLResponse((FOLDER.parent / "index.html").read_bytes(), headers={"etag": "of Streamlit's own page"})

    middleware = [
        Middleware(StyledPage),
        Middleware(GZipMiddleware),
    ]  # Streamlit compresses what the app's middleware sends on
    client = TestClient(Starlette(routes=[Route("/{path:path}", streamlits)], middleware=middleware))
    client.headers["Accept"] = "text/html,*/*;q=0.8"
    answer = client.get("/lab")
    assert answer.headers["content-encoding"] == "gzip"
    plain = client.get("/lab", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == answer.text
    assert answer.text.startswith((FOLDER.parent / "index.html").read_text("utf-8").partition("</body>")[0])
    for name in ("app/frame", "lab/lab", "questions/questions"):
        assert (PARTS / f"{name}.css").read_text("utf-8") in answer.text
    for name in ("boards/live/live", "experiments/presenter"):
        assert (PARTS / f"{name}.css").read_text("utf-8") not in answer.text
    assert "This page needs a WebSocket connection" in answer.text
    assert "etag" not in answer.headers
    assert answer.headers["cache-control"] == "no-cache"
    assert client.get("/text", headers={"If-None-Match": "x"}).text == "asked with None"
    assert client.get("/text", headers={"If-None-Match": "x", "Accept": "*/*"}).text == "asked with x"
    assert client.get("/report").text == "a report"


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
