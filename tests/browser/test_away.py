"""A page whose server has ended says so in the app's own words, and continues by itself once the server is there again."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.browser.conftest import PATIENCE, PHONE, WIDE
from tests.serving import running

ENOUGH = 7
"""Requests without an answer. At the sixth Streamlit opens its own dialog."""


def test_a_page_waits_for_its_server_in_its_own_words_and_continues_by_itself(chromium: Any, tmp_path: Path) -> None:
    with chromium.new_context(viewport=WIDE) as wide, chromium.new_context(viewport=PHONE) as phone:
        wide.set_default_timeout(PATIENCE)
        phone.set_default_timeout(PATIENCE)
        lab, glossary = wide.new_page(), phone.new_page()
        unanswered: dict[Any, list[str]] = {lab: [], glossary: []}
        for page, asked in unanswered.items():
            page.on("requestfailed", lambda request, asked=asked: asked.append(request.url))
        with running("app.py", tmp_path) as (server, address):
            port = str(urlsplit(address).port)
            for page, path in ((lab, "lab?steps=60"), (glossary, "glossary")):
                page.goto(f"http://localhost:{port}/{path}")  # Streamlit speaks of a terminal to a page of this host
                page.get_by_role("main").get_by_role("textbox").first.wait_for()
            server.kill()
        for page, asked in unanswered.items():
            words = page.get_by_role("alert").get_by_text("This page cannot reach the server.")
            words.wait_for()
            while sum(url.endswith("_stcore/health") for url in asked) < ENOUGH:
                page.wait_for_event("requestfailed")
            assert page.get_by_text("streamlit run").count() == page.get_by_role("dialog").count() == 0
            box, width = words.bounding_box(), page.viewport_size["width"]
            assert (box["x"] >= 0, box["x"] + box["width"] <= width) == (True, True)
        with running("app.py", tmp_path, STREAMLIT_SERVER_PORT=port):
            for page in unanswered:
                page.get_by_role("alert").get_by_text("This page").wait_for(state="detached")
            glossary.get_by_role("textbox", name="Search").fill("copies the answer")
            glossary.keyboard.press("Enter")
            glossary.wait_for_function("() => document.querySelectorAll(\"[class*='st-key-term-']\").length === 1")
            lab.get_by_role("button", name="Train", exact=True).click()
            lab.locator(".board .badge").get_by_text("Finished").wait_for()
