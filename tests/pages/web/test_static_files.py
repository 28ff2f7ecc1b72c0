"""Streamlit's own scripts are sent compressed, and nothing but what lies in its folder."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from pages.parts.web.static_files import static_route

FOLDER = Path(get_static_dir()) / "static"
CLIENT = TestClient(Starlette(routes=[static_route("/deep")]))


def largest(suffix: str) -> Path:
    return max(FOLDER.rglob(f"*{suffix}"), key=lambda file: file.stat().st_size)


@pytest.mark.parametrize(("suffix", "media"), [(".js", "text/javascript"), (".css", "text/css")])
def test_a_text_file_is_compressed_for_who_takes_it_and_kept_for_ever(suffix: str, media: str) -> None:
    file = largest(suffix)
    address = f"/deep/static/{file.relative_to(FOLDER)}"
    for accepts in ("gzip", "identity"):
        answer = CLIENT.get(address, headers={"Accept-Encoding": accepts})
        assert answer.headers.get("content-encoding", "identity") == accepts
        assert answer.headers["content-type"].startswith(media)
        assert "immutable" in answer.headers["cache-control"]
        assert answer.content == file.read_bytes()
        sent = int(answer.headers["content-length"])
        assert (sent < file.stat().st_size / 2) == (accepts == "gzip")


def test_a_font_is_sent_as_it_is() -> None:
    file = largest(".woff2")
    answer = CLIENT.get(f"/deep/static/{file.relative_to(FOLDER)}", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers
    assert answer.content == file.read_bytes()


@pytest.mark.parametrize("path", ["js/none.js", "", "js", "../index.html", "%2e%2e/index.html", "/etc/passwd"])
def test_nothing_else_is_sent(path: str) -> None:
    answer = CLIENT.get(f"/deep/static/{path}")
    assert (answer.status_code, answer.headers.get("cache-control", "no-store")) == (404, "no-store")
