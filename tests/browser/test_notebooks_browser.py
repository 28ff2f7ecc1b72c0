"""A notebook in a real browser: run to a step, see outputs and figures, download, reload on a phone."""

from __future__ import annotations

import json
import re
from pathlib import Path

from engine.notebooks import NOTEBOOKS
from tests.browser.conftest import PHONE, Open, no_wider_than_the_window

NOTEBOOK = NOTEBOOKS["fixed-length"]


def test_from_the_overview_to_green_tests_and_the_download(open_page: Open, tmp_path: Path) -> None:
    page = open_page("notebooks", "Notebooks")
    page.get_by_role("link", name=re.compile(NOTEBOOK.title)).click()
    page.get_by_role("heading", name=NOTEBOOK.title, exact=True).wait_for()
    page.wait_for_url(re.compile("notebook=fixed-length"))
    page.get_by_role("link", name=re.compile("Predict the position")).first.click()
    page.wait_for_url(re.compile("notebook=predict-the-position"))
    page.go_back()
    page.get_by_role("link", name="Notebooks", exact=True).click()  # in the menu
    page.get_by_role("heading", name="Notebooks", exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name=NOTEBOOK.title, exact=True).wait_for()
    page.get_by_role("button", name="Run to here").nth(1).click()
    page.get_by_text("parameters       256000 for tokens, 2560 for positions").wait_for()
    page.wait_for_url(re.compile("play="))
    page.get_by_role("button", name="Run the rest").click()
    page.get_by_text("15 of 15 cells passed.").wait_for()
    page.get_by_text("IndexError: index out of range in self").wait_for()
    page.locator(".plot").first.scroll_into_view_if_needed()  # it is drawn when it comes into sight
    page.locator(".plot .main-svg").first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Jupyter notebook").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.name == "fixed-length.ipynb"
    assert json.loads(saved.read_text("utf-8"))["nbformat"] == 4
    page.set_viewport_size(PHONE)
    page.reload()
    page.get_by_text("15 of 15 cells passed.").wait_for()
    no_wider_than_the_window(page)
