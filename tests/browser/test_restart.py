"""A page that stays open while the server is started anew: it says what became of its run, and offers nothing that would be refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import PATIENCE, button
from tests.serving import free_port, running


@pytest.mark.parametrize(("how", "state"), [("terminate", "running"), ("kill", "lost")])
def test_a_page_that_stays_open_over_a_restart_goes_on_or_says_that_its_run_is_lost(
    chromium: Any, tmp_path: Path, how: str, state: str
) -> None:
    same = {"STREAMLIT_SERVER_PORT": str(free_port()), "ATTENTION_LAB_WORKERS": "1"}
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    badge = page.locator(".board .badge").first
    it_trains = page.get_by_text("It trains: in the row")
    pause, stop = (button(page, name) for name in ("Pause", "Stop"))
    cut_off = page.get_by_role("alert").get_by_text("This page cannot reach the server.")
    with running("app.py", tmp_path, **same) as (server, address):
        page.goto(f"{address}lab?steps=50000")
        page.get_by_role("button", name="Train", exact=True).click()
        badge.and_(page.locator("[data-state=running]")).wait_for()
        it_trains.wait_for()
        getattr(server, how)()
        server.wait()
        cut_off.wait_for()
    with running("app.py", tmp_path, **same):
        cut_off.wait_for(state="detached")  # until then the page shows what it knew before
        badge.and_(page.locator(f"[data-state={state}]")).wait_for()
        if state == "lost":
            it_trains.wait_for(state="detached")
            page.wait_for_function(
                "([...all]) => all.every((one) => one.disabled)", arg=[pause.element_handle(), stop.element_handle()]
            )
        else:
            it_trains.wait_for()
            stop.click()
            badge.and_(page.locator("[data-state=stopped]")).wait_for()
    page.close()
