import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.browser.conftest import app
from tests.browser.test_axe import PAGES

__all__ = ["app"]
pytestmark = pytest.mark.acceptance

PATIENCE = 240  # seconds, on a busy machine
WIDTHS = (1280, 447)  # pixels of a projector, and of the narrowest window that this browser has
# JavaScript: the visible nodes that a selector finds, inside of boards too, and that have these words
FIND = """const [selector, words] = arguments
const all = (root) => [...root.querySelectorAll(selector), ...[...root.querySelectorAll('*')]
  .flatMap((node) => (node.shadowRoot ? all(node.shadowRoot) : []))]
return all(document).filter((node) => node.getClientRects().length && node.textContent.includes(words))"""
SETTLED = """const busy = document.querySelector('[data-stale=true], [data-testid=stSkeleton], [data-testid=stSpinner]')
return !busy && document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'"""
TOO_WIDE = """const nodes = [...document.querySelectorAll(':root, [data-testid=stMain]')]
return Math.max(...nodes.map((node) => node.scrollWidth)) - innerWidth"""
# JavaScript: record errors from here on, and the addresses of the event streams
WATCH = """window.wrong = [], window.streams = []
window.EventSource = class extends EventSource { constructor(...given) { super(...given); streams.push(this.url) } }
window.addEventListener('error', (event) => wrong.push(event.message))
window.addEventListener('unhandledrejection', (event) => wrong.push(String(event.reason)))"""


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="NO BROWSER TESTS: selenium is not installed")
    program = which("WebKitWebDriver")
    browser = next(Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser"), None)
    if program is None or browser is None or which("Xvfb") is None:
        pytest.skip("NO BROWSER TESTS of WebKit: on Debian, apt-get install webkit2gtk-driver xvfb")
    with ExitStack() as stack:
        ours, theirs = os.pipe()
        command = ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1600x1200x24"]
        screen = subprocess.Popen(command, pass_fds=[theirs], stderr=subprocess.DEVNULL)
        stack.callback(screen.wait)
        stack.callback(screen.terminate)
        os.close(theirs)
        display = os.fdopen(ours).readline().strip()
        options = webdriver.WebKitGTKOptions()
        options.binary_location = str(browser)
        options.add_argument("--automation")
        service = webdriver.WebKitGTKService(program, env=os.environ | {"DISPLAY": f":{display}"})
        driver = webdriver.WebKitGTK(options=options, service=service)
        stack.callback(driver.quit)
        yield driver


def until(driver: Any, condition: Any) -> Any:
    """The first true value of ``condition``, a function of the driver."""
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(driver, PATIENCE, poll_frequency=0.2).until(condition)


def element(driver: Any, selector: str, words: str = "") -> Any:
    """The first visible node that a selector finds and that has these words, once there is one."""
    return until(driver, lambda driver: driver.execute_script(FIND, selector, words))[0]


def open_session(driver: Any, address: str, heading: str) -> None:
    """Open a page and wait until it is complete and fits both widths, without any error."""
    driver.set_window_size(WIDTHS[0], 900)
    driver.get(address)
    driver.execute_script(WATCH)
    element(driver, "h1, h2", heading)
    until(driver, lambda driver: driver.execute_script(SETTLED))
    for width in WIDTHS:
        driver.set_window_size(width, 900)
        until(driver, lambda driver, width=width: driver.execute_script("return innerWidth") <= width)
        until(driver, lambda driver: driver.execute_script(TOO_WIDE) <= 0)
    driver.set_window_size(WIDTHS[0], 900)
    for selector, words in (("[data-testid=stException]", ""), ("*", "could not be loaded"), ("[role=dialog]", "")):
        assert driver.execute_script(FIND, selector, words) == []
    assert driver.execute_script("return window.wrong") == []


@pytest.mark.parametrize("path", [*PAGES, "lab", "questions?issue=heads"])
def test_a_page_opens_and_fits(driver: Any, app: str, path: str) -> None:
    open_session(driver, app + path, PAGES.get(path, ""))


def test_a_run_trains_its_curve_grows_while_it_does_and_its_figure_has_a_menu(driver: Any, app: str) -> None:
    open_session(driver, f"{app}lab?steps=2000", "")
    element(driver, "button", "Train").click()
    loss = element(driver, "article.loss .plot")
    steps = {0}
    while len(steps) < 5:
        steps.add(until(driver, lambda _: (now := int(loss.get_attribute("data-step") or 0)) > max(steps) and now))
    assert max(steps) < 2000, "it still trains"
    menu = element(driver, "summary[aria-label='Download Loss']")
    menu.click()
    assert element(driver, "[role=menuitem]", "Picture (PNG)")
    menu.click()
    element(driver, ".board .badge", "Finished")
    (stream,) = driver.execute_script("return window.streams")
    assert "/live/" in stream, "one stream brought all of it"
    assert driver.execute_script("return window.wrong") == []


def test_an_issue_runs_live_to_its_sentence(driver: Any, app: str) -> None:
    open_session(driver, f"{app}questions?issue=missing-mask&seeds=1&first_seed=10070", "What if the mask is missing?")
    element(driver, "button", "Train it here").click()
    element(driver, ".badge", "Running")
    element(driver, ".badge", "Finished")
    assert element(driver, "article[data-id='key.figure'] .words", "ithout the causal mask")
    assert driver.execute_script("return window.wrong") == []
