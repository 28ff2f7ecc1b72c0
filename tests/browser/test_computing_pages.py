import json
import re

import pytest

from pages.parts.notebooks.notebook import NOTEBOOKS
from tests.browser.conftest import PHONE, Open, button, fits_the_width, wait_for_plot
from tests.browser.test_axe import violations

NOTEBOOK = NOTEBOOKS["fixed-length"]
SMALL = "cost?longest=256&kinds=fused,cnn&d_model=8&n_heads=2&rounds=1"


@pytest.mark.thorough
def test_a_measurement_from_the_button_to_a_reload_on_a_phone(open_page: Open) -> None:
    page = open_page(SMALL, "Cost")
    page.get_by_text("the longest sequence that fits").wait_for()
    fits_the_width(page)
    button(page, "Measure").click()
    page.get_by_role("button", name="All values (CSV)").wait_for()
    page.wait_for_url(re.compile("sweep="))
    page.set_viewport_size(PHONE)
    page.reload()
    page.get_by_text(re.compile("Measured on")).wait_for()
    plot = wait_for_plot(page, "costs.saved")
    measured = "(plot) => plot.data.filter((trace) => trace.uid.endsWith('-measured')).map((trace) => trace.x.length)"
    assert plot.evaluate(measured) == [3, 3]
    fits_the_width(page)
    assert violations(page) == []


@pytest.mark.thorough
def test_a_notebook_from_the_overview_to_its_outputs_and_the_download(open_page: Open) -> None:
    page = open_page("notebooks", "Notebooks")
    page.get_by_role("link", name=re.compile(NOTEBOOK.title)).click()
    page.get_by_role("heading", name=NOTEBOOK.title, exact=True).wait_for()
    page.wait_for_url(re.compile("notebook=fixed-length"))
    page.get_by_role("link", name="Notebooks", exact=True).click()  # in the menu
    page.get_by_role("heading", name="Notebooks", exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name=NOTEBOOK.title, exact=True).wait_for()
    page.get_by_text("parameters       256000 for tokens, 2560 for positions").wait_for()
    page.locator(".plot").first.scroll_into_view_if_needed()  # it is drawn when it comes into sight
    page.locator(".plot .main-svg").first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Jupyter notebook").click()
    assert download.value.suggested_filename == "fixed_length.ipynb"
    assert json.loads(download.value.path().read_text("utf-8"))["nbformat"] == 4
    page.set_viewport_size(PHONE)
    page.reload()
    page.get_by_text("parameters       256000 for tokens, 2560 for positions").wait_for()
    fits_the_width(page)
