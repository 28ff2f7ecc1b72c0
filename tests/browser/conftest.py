"""A real server on a free port and a real Chromium; without one these tests skip, loudly."""

import csv
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.serving import start_server
from tools import server

# a deep link makes Streamlit's script ask for these beside the page first, and miss
STREAMLITS_OWN = ("/_stcore/health", "/_stcore/host-config")

WIDE = {"width": 1366, "height": 768}
PROJECTOR = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
SIZES = {"projector": PROJECTOR, "phone": PHONE}

# Milliseconds of any wait. It takes seconds; on a busy machine, some tens of them.
PATIENCE = 120_000
# the environment of a server whose runs are waited for: one worker, which gets its time beside programs that keep every core busy
KEEPS_UP = {"ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_NICENESS": "0"}

# JavaScript: the words of the links, buttons and labels whose end is not seen
CUT = """() => {
  const ends = (part) => {
    const { overflowX, textOverflow } = getComputedStyle(part)
    return textOverflow === 'ellipsis' ? part.clientWidth > 0 : overflowX === 'hidden' && part.clientWidth > 1
  }
  return [...document.querySelectorAll('[data-testid=stMain] :is(a, button, label)')]
    .filter((node) => [node, ...node.querySelectorAll('*')]
      .some((part) => part.scrollWidth > part.clientWidth + 1 && ends(part)))
    .map((node) => node.innerText)
}"""

# JavaScript: true if the page stays unchanged for a moment
STANDS = """async () => {
  const busy = () => document.querySelector('[data-stale=true], [data-testid=stSkeleton], [data-testid=stSpinner]')
    || document.querySelector('.stApp').dataset.testScriptState !== 'notRunning'
    || document.getAnimations().some((one) => one instanceof CSSTransition)
  const height = () => document.querySelector('[data-testid=stMain]').scrollHeight
  const before = busy() ? -1 : height()
  await new Promise((resolve) => setTimeout(resolve, 300))
  return !busy() && height() === before
}"""

BROWSERS: list[Any] = []

Open = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails prints what its pages showed."""
    report = yield
    if not report.failed:
        return report
    for page in [page for browser in BROWSERS for context in browser.contexts for page in context.pages]:
        report.sections.append((f"Page {page.url}", page.inner_text("body")[:3000]))
    return report


@contextmanager
def launched() -> Iterator[object]:
    """A Chromium. While it is on, nothing else in the main thread of the process can run an event loop."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="NO BROWSER TESTS: playwright is not installed")
    sync_api.expect.set_options(timeout=PATIENCE)
    with ExitStack() as stack:
        try:
            browser = stack.enter_context(server.chromium())
        except sync_api.Error as error:
            why = str(error).splitlines()[0]
            pytest.skip(f"NO BROWSER TESTS: Chromium does not start ({why}); set CHROMIUM to its path")
        BROWSERS.append(browser)
        yield browser
        BROWSERS.clear()


@pytest.fixture(scope="package")
def chromium() -> Iterator[object]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the whole app with one worker: real server, real training."""
    with start_server("app.py", tmp_path_factory.mktemp("app"), **KEEPS_UP) as (_, address):
        yield address


@pytest.fixture
def open_page(chromium: Any, app: str) -> Iterator[Open]:
    """Open an address of the app in a new browser profile; at the end no console error may have been logged.

    ``open_page("questions?issue=heads", "Heads", PHONE)`` waits for the heading, if one is given. ``before``: called with the page
    before it goes there.
    """
    with console_watched(chromium) as new_page:

        def open_it(
            path: str = "", heading: str = "", viewport: dict[str, int] = WIDE,
            before: Callable[[Any], object] = lambda page: None, **context: Any,
        ) -> Any:  # fmt: skip
            page = new_page(viewport=viewport, **context)
            before(page)
            page.goto(app + path)
            if heading:
                page.get_by_role("heading", name=heading, exact=True).wait_for()
            return page

        yield open_it


def button(page: Any, name: str) -> Any:
    """A button of the page: Streamlit's header has another Stop while a script runs."""
    return page.get_by_test_id("stMainBlockContainer").get_by_role("button", name=name, exact=True)


def more(page: Any) -> Any:
    """The content of the lab's More, opened."""
    behind = page.locator(".st-key-lab-rest details").first
    if behind.get_attribute("open") is None:
        behind.locator("summary").click()
    behind.get_by_role("combobox", name="Pace").wait_for()
    return behind


def pictured(page: Any) -> Any:
    """The page, once it shows the picture of a model that answers."""
    picture = figure(page, "stack")
    picture.locator("[data-writes].right, [data-writes].wrong").first.wait_for()
    picture.locator(".layer-row").first.wait_for()
    return page


def figure(page: Any, panel: str) -> Any:
    return page.locator(f'article[data-id="{panel}"]')


def wait_for_plot(page: Any, panel: str, least: int = 1) -> Any:
    """The plot of a panel, which is drawn when it comes into sight, once it was drawn so many times. Plots above it, which are
    drawn meanwhile, may push it out of sight again."""
    plot = figure(page, panel).locator(".plot")
    often = """([plot, least]) => {
      plot.scrollIntoView({ block: "nearest" })
      return Number(plot.dataset.draws ?? 0) >= least
    }"""
    page.wait_for_function(often, arg=[plot.element_handle(), least])
    plot.locator(".main-svg").first.wait_for()
    return plot


def saved(figure: Any, item: str, folder: Path) -> Path:
    """The file that an item of a figure's menu downloads."""
    figure.locator("summary").click()
    with figure.page.expect_download() as download:
        figure.get_by_role("menuitem", name=item).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def columns(file: Path) -> dict[str, np.ndarray]:
    """The columns of a figure's saved numbers, without the series."""
    _, *names = next(csv.reader(file.open()))
    rows = np.loadtxt(file, delimiter=",", skiprows=1, usecols=range(1, len(names) + 1))
    return dict(zip(names, rows.T, strict=True))


def go(page: Any, path: str) -> None:
    """Go to another address of the app as Back and Forward do: in the same session, and without loading Streamlit's scripts again."""
    page.evaluate(
        "(to) => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')) }", f"/{path}"
    )


@contextmanager
def console_watched(chromium: Any) -> Iterator[Open]:
    """Yield a function that makes a page in a new browser profile; any console error fails at the end."""
    wrong, contexts = list[str](), list[Any]()

    def noticed(message: Any) -> None:
        if message.type == "error" and not message.location["url"].endswith(STREAMLITS_OWN):
            wrong.append(f"{message.text} {message.location}")

    def new_page(**context: Any) -> Any:
        contexts.append(chromium.new_context(**context))
        contexts[-1].set_default_timeout(PATIENCE)
        page = contexts[-1].new_page()
        page.on("console", noticed)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        return page

    yield new_page
    for context in contexts:
        context.close()
    assert wrong == []


def expect(found: Any) -> Any:
    """Playwright's assertions on a locator's nodes, which wait until they hold."""
    from playwright.sync_api import expect

    return expect(found)


def settled(page: Any) -> None:
    """Wait until the script has ended and the page neither waits for anything, nor changes colours, nor grows."""
    while not page.evaluate(STANDS):  # a promise is true for ``wait_for_function``
        pass


def eventually(page: Any, check: Callable[[], None]) -> None:
    """Wait until a check holds: positions may change until all is loaded and laid out. In the end its own error is raised."""
    until = time.monotonic() + PATIENCE / 1000
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > until:
                raise
        page.wait_for_timeout(100)


def in_view(*nodes: Any) -> None:
    """Wait until all of each is in the window, as it is scrolled."""
    for node in nodes:
        expect(node).to_be_in_viewport(ratio=0.98)  # not 1: edges stand between pixels


def fits_the_width(page: Any) -> None:
    """Wait until nothing is wider than the window: a table or a figure is until it is laid out."""
    page.wait_for_function(
        """() => [...document.querySelectorAll(':root, [data-testid=stMain]')]
          .every((node) => node.scrollWidth <= window.innerWidth)"""
    )


def nothing_is_cut_off(page: Any) -> None:
    """Check that neither the page at the right nor the words of a link, a button or a label are cut off, with an ellipsis or without."""
    fits_the_width(page)

    def nothing() -> None:
        assert page.evaluate(CUT) == []

    eventually(page, nothing)
