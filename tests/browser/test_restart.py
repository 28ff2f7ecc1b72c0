from pathlib import Path
from typing import Any

import pytest

from pages.parts.lab.results import WHILE
from tests.browser.conftest import KEEPS_UP, PATIENCE, PHONE, WIDE, button
from tests.serving import free_port, start_server

# Requests without an answer. At the sixth Streamlit opens its dialog.
ENOUGH = 7
# a run that trains for many minutes, while a busy browser looks for its Stop
LONG = "steps=50000&n_layers=4&d_model=128"


@pytest.mark.thorough
def test_an_open_page_goes_on_with_its_run_after_a_kill_and_after_a_restart(chromium: Any, tmp_path: Path) -> None:
    same = {"STREAMLIT_SERVER_PORT": str(free_port()), **KEEPS_UP}
    page, unanswered = chromium.new_page(viewport=WIDE), list[str]()
    page.set_default_timeout(PATIENCE)
    page.on("requestfailed", lambda request: unanswered.append(request.url))
    badge = page.locator(".board .badge").first
    it_trains = page.get_by_text(WHILE)
    cut_off = page.get_by_role("alert").get_by_text("This page cannot reach the server.")

    def goes() -> None:
        badge.and_(page.locator("[data-state=running]")).wait_for()
        it_trains.wait_for()

    with start_server("app.py", tmp_path, **same) as (server, address):
        # Streamlit speaks of a terminal to a page of this host.
        page.goto(f"{address.replace('127.0.0.1', 'localhost')}lab?{LONG}")
        button(page, "Train").click()
        goes()
        server.kill()
        server.wait()
        cut_off.wait_for()
    while sum(url.endswith("_stcore/health") for url in unanswered) < ENOUGH:
        page.wait_for_event("requestfailed")
    assert page.get_by_text("streamlit run").count() == page.get_by_role("dialog").count() == 0
    for viewport in (PHONE, WIDE):
        page.set_viewport_size(viewport)
        box = cut_off.bounding_box()
        assert (box["x"] >= 0, box["x"] + box["width"] <= viewport["width"]) == (True, True)
    with start_server("app.py", tmp_path, **same) as (server, _):
        cut_off.wait_for(state="detached")  # until then the page shows what it knew before
        goes()
        server.terminate()
        server.wait()
        cut_off.wait_for()
    with start_server("app.py", tmp_path, **same):
        cut_off.wait_for(state="detached")
        goes()
        button(page, "Stop").click()
        badge.and_(page.locator("[data-state=stopped]")).wait_for()
    page.close()


def test_a_network_without_websockets_is_named_after_a_while(chromium: Any, app: str) -> None:
    page = chromium.new_page(viewport=PHONE)
    page.set_default_timeout(PATIENCE)
    sentence = page.locator(".no-connection")
    later = """() => document.getAnimations().filter((one) => one.animationName === 'no-connection').map((one) => one.finish()).length"""
    page.goto(f"{app}notebooks")
    page.get_by_role("heading", name="Notebooks", exact=True).wait_for()
    assert page.evaluate(later) == 0
    assert sentence.is_hidden()
    page.route_web_socket("**/_stcore/stream", lambda socket: socket.close())
    page.reload()
    sentence.wait_for(state="attached")
    assert sentence.is_hidden()
    assert page.evaluate(later) == 1  # nobody waits twelve seconds
    sentence.get_by_text("This page needs a WebSocket connection").wait_for()
    page.close()
