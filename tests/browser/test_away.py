"""A page whose server has ended says so in the app's own words, and continues by itself once the server is there again."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.browser.conftest import PATIENCE, PHONE, WIDE, settled
from tests.serving import running

ENOUGH = 7
"""Requests without an answer. At the sixth Streamlit opens its own dialog."""


def test_a_page_waits_for_its_server_in_its_own_words_and_continues_by_itself(chromium: Any, tmp_path: Path) -> None:
    with chromium.new_context(viewport=WIDE) as context:
        context.set_default_timeout(PATIENCE)
        page, unanswered = context.new_page(), list[str]()
        page.on("requestfailed", lambda request: unanswered.append(request.url))
        with running("app.py", tmp_path, ATTENTION_LAB_WORKERS="1") as (server, address):
            port = str(urlsplit(address).port)
            page.goto(f"http://localhost:{port}/lab?steps=10")  # Streamlit speaks of a terminal to a page of this host
            train = page.get_by_role("button", name="Train", exact=True)
            page.locator("article.strip .score").get_by_text("untrained").wait_for()
            settled(page)  # what the page is made of is loaded: else it lacks parts for good
            server.kill()
        words = page.get_by_role("alert").get_by_text("This page cannot reach the server.")
        words.wait_for()
        while sum(url.endswith("_stcore/health") for url in unanswered) < ENOUGH:
            page.wait_for_event("requestfailed")
        assert page.get_by_text("streamlit run").count() == page.get_by_role("dialog").count() == 0
        for viewport in (WIDE, PHONE):
            page.set_viewport_size(viewport)
            box = words.bounding_box()
            assert (box["x"] >= 0, box["x"] + box["width"] <= viewport["width"]) == (True, True)
        with running("app.py", tmp_path, STREAMLIT_SERVER_PORT=port, ATTENTION_LAB_WORKERS="1"):
            page.get_by_role("alert").get_by_text("This page").wait_for(state="detached")
            train.click()
            page.locator(".board .badge").get_by_text("Finished").wait_for()
