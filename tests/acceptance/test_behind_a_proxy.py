"""The line for a host in docs/hosting.md and its lines for nginx, as written there, behind a real nginx with TLS: at the root of a
host, under a path that the proxy removes, in a frame of another site, and from another address than this machine's."""

import os
import re
import secrets
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pages.parts.app.visitor import COOKIE
from tests.acceptance.scene import healthz
from tests.browser.conftest import WIDE, button
from tests.engine.serving.test_pool import until
from tests.pages.web.test_server import deploy_line
from tests.serving import ROOT, free_port, start_server

NGINX_FILE = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or ""
needs_nginx = pytest.mark.skipif(not NGINX_FILE, reason="NO PROXY TESTS: nginx is not installed")
pytestmark = [pytest.mark.acceptance, needs_nginx]
# the host of that line, and that of a course page which frames the app
LAB, COURSE = "lab.example.org", "school.example"
PATIENCE = 120_000  # milliseconds, on a busy machine
LONG = "steps=5000&seq_len=8&n_layers=4"  # more than a minute, so that it is still going when the test looks at it
NGINX = Path(__file__).with_name("nginx.conf").read_text("utf-8")


@contextmanager
def deployed(folder: Path, path: str = "/", proxy: str = "127.0.0.1", **environment: str) -> Iterator[str]:
    """The app and its proxy, deployed as in docs/hosting.md; yields the address that visitors see. ``proxy``: the address from
    which the proxy connects to the app."""
    given, _ = deploy_line()
    with start_server("app.py", folder, **given, **environment) as (_, inner):
        port, (zone, lines) = free_port(), nginx_lines()
        assert (lines.count("location / {"), lines.count("http://127.0.0.1:8501;")) == (1, 1)
        onward = inner if path != "/" else inner.rstrip("/")  # a slash at its end removes the path
        address = f"https://{LAB}:{port}{path}"
        location = lines.replace("location / {", f"location {path} {{").replace("http://127.0.0.1:8501;", f"{onward};")
        (folder / "nginx.conf").write_text(
            NGINX.format(
                user="user root;" if os.geteuid() == 0 else "", port=port, lab=LAB, course=COURSE, proxy=proxy,
                zone=zone, location=location, framed=f"{address}lab?{LONG}", size="width=1300 height=700",
            )
        )  # fmt: skip
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={LAB}",
             "-keyout", "key.pem", "-out", "cert.pem"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        nginx = subprocess.Popen([NGINX_FILE, "-p", folder, "-c", "nginx.conf"])
        try:
            until(lambda: healthz(inner) == 200)
            until(lambda: answers(address))
            yield address
        finally:
            nginx.terminate()
            nginx.wait(30)


def nginx_lines() -> tuple[str, str]:
    """The lines for nginx in docs/hosting.md: those outside of a server, and those in it."""
    text = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    outside, _, inside = re.search(r"```nginx\n(.*?)```", text, re.DOTALL)[1].partition("\n\n")
    return outside, inside


@contextmanager
def response(address: str, visitor: str = "203.0.113.5") -> Iterator[HTTPResponse]:
    parts = urlsplit(address)
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    with closing(HTTPSConnection("127.0.0.1", parts.port, timeout=60, context=tls)) as connection:
        cookie = f"{COOKIE}={secrets.token_urlsafe(32)}" if "/live/" in address else ""
        headers = {"Host": parts.netloc, "X-Visitor": visitor, "Cookie": cookie}
        connection.request("GET", parts._replace(scheme="", netloc="").geturl(), headers=headers)
        yield connection.getresponse()


def answers(address: str) -> bool:
    with suppress(OSError), response(f"{address}healthz") as answer:
        return answer.status == 200
    return False


def cookie_of(address: str) -> set[str]:
    with response(f"{address}lab") as answer:
        given = answer.headers.get_all("Set-Cookie") or []
    (mine,) = (one for one in given if one.startswith(f"{COOKIE}="))
    return set(mine.split("; ")[1:])


@contextmanager
def page_of(chromium: Any) -> Iterator[tuple[Any, list[tuple[str, int]]]]:
    """A page in a new profile, and the event streams that it opens: their addresses and statuses."""
    context = chromium.new_context(viewport=WIDE, ignore_https_errors=True)
    page, streams = context.new_page(), list[tuple[str, int]]()
    page.set_default_timeout(PATIENCE)

    def note(answer: Any) -> None:
        if re.search("/live/.*after=", answer.url):
            streams.append((answer.url, answer.status))

    page.on("response", note)
    yield page, streams
    context.close()


def train(view: Any) -> None:
    """Press Train on a page or in a frame, and wait until the curve grows."""
    view.get_by_role("button", name="Train", exact=True).click()
    loss = view.locator("article.loss .plot")
    loss.scroll_into_view_if_needed()  # what is out of sight is not drawn
    until(lambda: int(loss.get_attribute("data-step") or 0) >= 20)


def test_behind_a_proxy_at_another_address_which_is_named_the_cookie_is_secure(tmp_path: Path) -> None:
    with deployed(tmp_path, proxy="127.0.0.5", FORWARDED_ALLOW_IPS="127.0.0.5") as address:
        assert {"HttpOnly", "Secure", "SameSite=Lax"} <= cookie_of(address)


def test_under_a_path_that_the_proxy_removes_it_trains_and_addresses_have_shares(chromium: Any, tmp_path: Path) -> None:
    few = {"ATTENTION_LAB_STREAMS": "6"}
    with deployed(tmp_path, path="/~/+/", **few) as address, page_of(chromium) as (page, streams):
        assert {"HttpOnly", "Secure", "SameSite=Lax"} <= cookie_of(address)
        page.goto(f"{address}lab?{LONG}")
        train(page)
        ((stream, status),) = streams
        assert status == 200
        page.get_by_role("button", name="Pause", exact=True).click()
        page.locator(".badge").get_by_text("Paused").wait_for()
        with ExitStack() as going:  # two addresses are two, although all comes through one proxy
            here = [going.enter_context(response(stream, "203.0.113.5")).status for _ in range(4)]
            assert here == [200, 200, 200, 429]
            assert going.enter_context(response(stream, "203.0.113.6")).status == 200
        button(page, "Stop").click()
        page.locator(".badge").get_by_text("Stopped").wait_for()


def test_in_a_frame_of_another_site_a_browser_keeps_its_cookie(chromium: Any, tmp_path: Path) -> None:
    framing = {"ATTENTION_LAB_FRAME_ANCESTORS": f"'self' https://{COURSE}:*"}
    with deployed(tmp_path, **framing) as address, page_of(chromium) as (page, streams):
        assert {"HttpOnly", "Secure", "SameSite=None", "Partitioned"} <= cookie_of(address)
        page.goto(address.replace(LAB, COURSE))
        train(page.frame_locator("iframe"))
        (before,) = cookies(page)
        assert [status for _, status in streams] == [200]
        frame = page.frame_locator("iframe")
        facts = frame.locator(".board .facts")
        frame.get_by_role("button", name="Pause", exact=True).click()
        frame.locator(".badge").get_by_text("Paused").wait_for()
        (paused,) = re.findall(r"step (\d+) of", facts.inner_text().replace(",", ""))  # drawn together with the badge
        frame.locator(".st-key-lab-rest summary").first.click()
        frame.get_by_role("button", name="Step", exact=True).click()
        until(lambda: f"step {int(paused) + 1} of" in facts.inner_text().replace(",", ""))
        page.reload()
        frame.get_by_role("button", name="Train", exact=True).wait_for()
        assert cookies(page) == [before]


def test_in_a_frame_of_another_site_a_file_is_taken(chromium: Any, tmp_path: Path) -> None:
    framing = {"ATTENTION_LAB_FRAME_ANCESTORS": f"'self' https://{COURSE}:*"}
    text = "It was the best of times, it was the worst of times.\n" * 40
    with deployed(tmp_path, **framing) as address, page_of(chromium) as (page, _):
        page.goto(address.replace(LAB, COURSE))
        page.evaluate(
            "address => { document.querySelector('iframe').src = address }", f"{address}text"
        )  # leads to the lab
        frame = page.frame_locator("iframe")
        frame.get_by_role("button", name="Shakespeare").click()
        frame.get_by_role("button", name="Use this text").click()
        frame.get_by_text("No text has arrived.").wait_for()
        with page.expect_response(re.compile("upload_file")) as answer:
            frame.locator("input[type=file]").set_input_files(
                {"name": "a.txt", "mimeType": "text/plain", "buffer": text.encode()}
            )
        assert answer.value.status == 204
        frame.get_by_role("button", name="Use this text").click()
        frame.get_by_text(f"Your text, {len(text):,} characters").wait_for()


def cookies(page: Any) -> list[str]:
    return [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == COOKIE]
