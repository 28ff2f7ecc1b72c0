import re
import urllib.request
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.config.run_config import parse
from engine.foundation.provenance import stamp
from engine.runs.events import Progress
from tests.browser.conftest import KEEPS_UP, PATIENCE, Open, columns, console_watched, eventually, expect, saved
from tests.browser.prefix_proxy import proxied
from tests.scripted import ScriptedRun, similarity
from tests.serving import start_server

names = (f"run{number}" for number in count())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    under = {"STREAMLIT_SERVER_BASE_URL_PATH": "courses/lab", **KEEPS_UP}
    with start_server("tests/browser/site/app.py", tmp_path_factory.mktemp("site"), **under) as (_, address):
        yield address


@pytest.fixture
def open_board(chromium: Any, site: str) -> Iterator[Open]:
    """Open a page of the site on a new scripted run; at the end nothing may have gone wrong in the console."""
    with console_watched(chromium) as new_page:

        def open_(address: str = site, before: Callable[[Any], None] | None = None, **query: object) -> Any:
            size = {"width": 1366, "height": query.pop("height", 900)}
            page = new_page(viewport=size, accept_downloads=True)
            if before is not None:
                before(page)
            if "recorded" in query:
                page.clock.install()  # its player can be run ahead: nobody waits to see that it stands still
            given = {"run": next(names), "rate": 60} | query
            page.goto(address + "?" + "&".join(f"{name}={value}" for name, value in given.items()))
            page.locator(".board .status").wait_for()
            return page

        yield open_


@pytest.fixture
def troubled(chromium: Any) -> Iterator[Any]:
    """A page in a new browser profile whose console may name errors."""
    with chromium.new_context() as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def plot(page: Any, name: str) -> Any:
    return page.locator(f"article.{name} .plot")


def step(page: Any) -> int:
    return int(plot(page, "loss").get_attribute("data-step") or 0)


def until(node: Any, condition: str, argument: object = None) -> None:
    there = node.element_handle()
    node.page.wait_for_function(f"([node, argument]) => {condition}", arg=[there, argument])


def until_step(page: Any, least: int) -> None:
    until(plot(page, "loss"), "Number(node.dataset.step ?? 0) >= argument", least)


def mark(page: Any) -> None:
    plot(page, "loss").evaluate("node => { node.marked = true }")


def marked(page: Any) -> bool:
    return plot(page, "loss").evaluate("node => node.marked") is True


def steps_drawn(page: Any) -> list[int]:
    return list(plot(page, "loss").evaluate("node => Array.from(node.data[0].x)"))


def scripts_run(page: Any) -> str:
    return str(page.get_by_text("script runs:").inner_text())


@pytest.mark.thorough
def test_a_run_is_watched_zoomed_into_looked_back_at_and_left(open_board: Open) -> None:
    page = open_board(family="encoder_decoder", steps=20_000, rate=100)
    loss = plot(page, "loss")
    until_step(page, 20)

    # It grows again and again without the script being run again.
    before, draws = scripts_run(page), int(loss.get_attribute("data-draws"))
    until(loss, "Number(node.dataset.draws) >= argument", draws + 4)
    assert scripts_run(page) == before
    assert step(page) >= 24, "each drawing shows steps that were not there before"
    assert min(loss.evaluate("node => node.data.map(trace => trace.x.length)")) > 0
    assert "Training" in page.locator(".badge").inner_text()

    # What the reader set stays through updates and a rerun that brings another line.
    mark(page)
    box = loss.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.01, box["y"] + box["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.8, steps=5)
    page.mouse.up()
    loss.locator(".legendtoggle").first.click()
    until(loss, "node._fullData[0].visible === 'legendonly' && node._fullLayout.xaxis.range[1] < 16_000")
    view_of = "node => ({ x: node._fullLayout.xaxis.range, hidden: node._fullData[0].visible })"
    zoomed = loss.evaluate(view_of)
    page.get_by_role("slider", name="A slider").press("ArrowRight")
    page.get_by_text("Earlier run").click()
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)
    until(loss, "node.data.length === 3")
    until_step(page, step(page) + 40)
    assert marked(page)
    assert loss.evaluate(view_of) == zoomed

    # Streamlit calls the cleanup of data that were overtaken by later ones, although the component stays.
    for _ in range(2):
        page.get_by_text("Earlier run").click()
        page.emulate_media(color_scheme="dark")
        page.emulate_media(color_scheme="light")
    until_step(page, step(page) + 30)
    assert marked(page)

    # A tile is enlarged by click and by keyboard. Panels out of sight are not redrawn: the window is high enough for all.
    page.set_viewport_size({"width": 1366, "height": 1900})
    tiles = page.locator("article.attention .nsewdrag").first
    tiles.wait_for()
    box = tiles.bounding_box()
    tiles.click(position={"x": box["width"] * 0.7, "y": box["height"] * 0.8})
    page.locator('article.pattern .plot[aria-label^="Layer 2, head 3"]').wait_for()
    page.get_by_label("Head", exact=True).select_option("0")
    page.locator('article.pattern .plot[aria-label^="Layer 2, head 1"]').wait_for()
    page.get_by_role("button", name="Cross").press("Enter")
    until(plot(page, "pattern"), "node._fullLayout?.xaxis.ticktext?.length === 6")
    box = page.locator("article.pattern .nsewdrag").first.bounding_box()

    def is_told() -> None:  # a drawing meanwhile ends the hovering
        for share in (0.49, 0.5):
            page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * share)
        tip = page.locator(".tip").inner_text()
        assert re.fullmatch(r"query \d+ “\S+” → key \d+ “\S+”: about [01]\.\d{3}", tip), tip

    eventually(page, is_told)

    score = page.locator(".score")
    score.get_by_text("24 of 24 right").wait_for()  # from step 86 on
    page.locator(".replay input").fill("2")
    page.get_by_text(re.compile(r"looking at step 2\b")).wait_for()
    score.get_by_text(re.compile(r"\b(1?\d|2[0-3]) of 24 right")).wait_for()
    early = score.inner_text()
    until(plot(page, "loss"), "node.layout.shapes.at(-1).x0 === 2")
    until_step(page, step(page) + 40)
    assert score.inner_text() == early, "looking back holds while training goes on"
    page.get_by_role("button", name="Live").click()
    score.get_by_text("24 of 24 right").wait_for()

    # Leaving closes the stream.
    page.evaluate(
        """() => { const close = EventSource.prototype.close
           EventSource.prototype.close = function () { window.streamClosed = this.url; return close.call(this) } }"""
    )
    page.get_by_text("No board").click()
    page.locator(".board").wait_for(state="detached")
    page.wait_for_function("() => window.streamClosed?.includes('/live/')")


def test_a_choice_is_told_in_words_also_where_the_run_brings_nothing_new(open_board: Open) -> None:
    page = open_board(rate=0.001, height=1900)
    page.locator(".badge").get_by_text("Training").wait_for()
    heads = page.get_by_label("Head", exact=True)
    for head in (2, 3, 4, 1):
        heads.select_option(f"{head - 1}")
        page.locator(f'article.pattern .plot[aria-label^="Layer 1, head {head}"]').wait_for()


@pytest.mark.thorough
def test_a_board_before_its_run_in_the_queue_at_the_end_and_with_another_run(open_board: Open, tmp_path: Path) -> None:
    addresses = list[str]()
    page = open_board(
        before=lambda page: page.on("request", lambda r: addresses.append(r.url) if "?after=" in r.url else None),
        click=1, rate=0, layers=1, n=120, height=1900,
    )  # fmt: skip
    page.locator(".badge[data-state=none]").wait_for()
    assert page.get_by_text("no run yet").count() > 0
    empty = page.locator("article.loss").bounding_box()
    mark(page)
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("place 3 in the queue").wait_for()
    assert page.get_by_text("waiting for the first step").count() == 3
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("page knows: finished").wait_for()
    settled = scripts_run(page)
    until_step(page, 300)
    assert page.locator("article.loss").bounding_box()["height"] == empty["height"]
    page.locator('article.memory .plot[aria-label*="Measured: parameters"]').wait_for()

    begins = {"Picture (PNG)": b"\x89PNG", "Drawing (SVG)": b"<svg", "Data (CSV)": b"series,x,y,value"}
    for item, first_bytes in begins.items():
        file = saved(page.locator("article.loss"), item, tmp_path)
        assert file.read_bytes().startswith(first_bytes)
        assert file.stem == f"a-scripted-run-loss-{stamp()}"
        assert b"<metadata>Attention Lab" in file.read_bytes() or item != "Drawing (SVG)"
    events = ScriptedRun().advance(1000).events
    trained = [(event.step, event.loss) for event in events if isinstance(event, Progress)]
    rows = [row.split(",")[1:3] for row in file.read_text().splitlines() if row.startswith("training,")]
    assert [(int(step), float(loss)) for step, loss in rows] == trained  # every step, every digit

    settings = {"n_layers": 1, "n_heads": 4, "seq_len": 120}
    run = ScriptedRun(config=parse(settings), step=300)
    patterns, similar = run.pattern(1, 4, 239, 239), similarity(239)

    until(plot(page, "pattern"), "node.data")
    file = saved(page.locator("article.attention"), "Data (CSV)", tmp_path)
    found = columns(file)
    assert [*found] == ["layer", "head", "query", "key", "value"]
    layer, head, query, key, weights = found.values()
    where = np.array([layer, head, query, key], dtype=int) - 1  # all count from 1
    assert len(np.unique(where, axis=1).T) == patterns.size, "every weight, although blocks of 2 × 2 are drawn"
    np.testing.assert_array_equal(weights.astype(np.float32), patterns[tuple(where)])
    assert file.stem == f"a-scripted-run-attention-every-head-step-300-{stamp()}"
    written = file.read_text().splitlines()[1:]
    digits = {len(line.rpartition(",")[2].partition("e")[0].lstrip("0.").replace(".", "")) for line in written}
    assert max(digits) == 9, "as many as tell one number of 32 bits from the next"
    page.get_by_label("Head", exact=True).select_option("2")
    page.locator('article.pattern .plot[aria-label^="Layer 1, head 3"]').wait_for()
    for panel, names, values in (
        ("pattern", ["query", "key", "value"], patterns[0, 2]),
        ("similarity", ["position", "other position", "value"], similar.astype(np.float32)),
    ):
        found = columns(saved(page.locator(f"article.{panel}"), "Data (CSV)", tmp_path))
        assert [*found] == names
        np.testing.assert_array_equal(found["value"].astype(np.float32), values.ravel())

    box = page.locator("article.pattern .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.6)
    tip = page.locator(".tip").filter(has_text=re.compile(r"^query \d+ “.*” → key \d+ “.*”: [01]\.\d{3}$"))
    tip.wait_for()
    query, key, weight = re.fullmatch(r"query (\d+) “.*” → key (\d+) “.*”: (.*)", tip.inner_text()).groups()
    assert float(weight) == pytest.approx(patterns[0, 2, int(query) - 1, int(key) - 1], abs=0.0005)

    assert scripts_run(page) == settled, "the end is told once"
    assert len(addresses) == 1
    page.get_by_text("Another run").click()
    until(plot(page, "loss"), "node.dataset.run.endsWith('-again') && Number(node.dataset.step) === 300")
    page.locator(".badge[data-state=finished]").wait_for()
    assert marked(page)
    assert len(steps_drawn(page)) == 300
    assert len(addresses) == 2, "one stream per run"

    for scheme, ink in (("light", "#1b2330"), ("dark", "#e6eaf2")):
        page.emulate_media(color_scheme=scheme)
        until(plot(page, "loss"), "node._fullLayout.font.color.toLowerCase() === argument", ink)


@pytest.mark.thorough
def test_behind_a_path_prefix_a_cut_stream_and_a_hidden_tab_take_up_where_they_were(troubled: Any, site: str) -> None:
    """A browser opens six connections to a host: hidden tabs must leave them to the visible one."""
    turn = """(hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }"""
    page, requests = troubled, list[Any]()

    page.on("request", lambda request: requests.append(request) if "?after=" in request.url else None)
    with proxied(site, "/shared") as (address, cut):
        page.goto(f"{address}?run={next(names)}&steps=450&rate=10")
        until_step(page, 20)
        with page.expect_request(re.compile(r"\?after=")):
            cut()
        until_step(page, step(page) + 20)
        assert page.get_by_text("polling: False").count() == 1
        assert requests[1].all_headers()["last-event-id"], "the browser says what it has"

        with page.expect_event("requestfailed", lambda request: "?after=" in request.url):
            page.evaluate(turn, True)
        page.get_by_role("button", name="To the end").click()
        with urllib.request.urlopen(requests[0].url) as beside:
            assert b'"end"' in beside.read(), "another reader is told all of it"
        assert len(requests) == 2
        assert (step_before := step(page)) < 450, "nothing is told meanwhile"

        page.evaluate(turn, False)
        until_step(page, 450)
        page.get_by_text("page knows: finished").wait_for()
        assert len(requests) == 3
        assert int(requests[2].url.partition("?after=")[2]) > step_before, "only what it does not have"
        assert steps_drawn(page) == list(range(1, 451)), "no gap, no double"


@pytest.mark.thorough
def test_a_refused_stream_is_polled_at_once_and_a_swallowed_one_after_a_while(troubled: Any, site: str) -> None:
    page, addresses = troubled, list[str]()

    def answer(route: Any) -> None:
        addresses.append(route.request.url)
        if "-again" not in route.request.url:  # the other is never answered
            route.fulfill(status=429, content_type="text/plain", body="You have 12 streams going.")

    # The test itself says when a silent stream is given up: before that only a refusal can lead to polling.
    page.add_init_script(
        "const later = window.setTimeout; window.setTimeout = (act, ms, ...more) => "
        "ms === 8000 ? ((window.giveUp = act), 0) : later(act, ms, ...more)"
    )
    page.route("**/live/*", answer)
    page.goto(f"{site}?run={next(names)}&steps=450&rate=30")
    page.get_by_text("polling: True").wait_for()
    until_step(page, 60)
    assert len(addresses) == 1, "who was refused does not ask again"
    # Not asked here: that the node stays. A poll that was on its way when the page turned may mount it anew, which asks anew.
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("page knows: finished, polling: False").wait_for()
    until_step(page, 450)

    with page.expect_request("**/live/*-again*"):
        page.get_by_text("Another run").click()
    page.get_by_text("page knows: running, polling: False").wait_for()
    mark(page)
    page.evaluate("giveUp()")
    page.get_by_text("polling: True").wait_for()
    until(plot(page, "loss"), "node.dataset.run.endsWith('-again') && Number(node.dataset.step) < 450")
    until_step(page, step(page) + 60)
    assert marked(page)
    steps = steps_drawn(page)
    assert steps == list(range(1, len(steps) + 1)), "no gap, no double"
    assert sum("-again" in url for url in addresses) == 1, "who waited in vain does not ask again"


def recorded_step(page: Any) -> int:
    return int(re.search(r"step (\d+) of", page.locator(".facts").text_content())[1])


@pytest.mark.thorough
def test_a_recording_stands_at_its_end_where_motion_is_not_wanted(open_board: Open) -> None:
    page = open_board(recorded=60, before=lambda page: page.emulate_media(reduced_motion="reduce"))
    page.get_by_text("Recorded run").wait_for()
    ended = page.locator(".facts").text_content()
    assert re.search(r"step (\d+) of \1\b", ended)
    page.clock.run_for(5000)  # it would move after two seconds
    assert page.locator(".facts").text_content() == ended


def show_page(page: Any, *, shown: bool) -> None:
    """Show or hide the whole page, and wait until the browser has told its observers so.

    The page's clock is the test's, but observers are told in frames of the real one.
    """
    page.locator(".board").evaluate(
        """(board, shown) => new Promise((noticed) => {
          document.body.style.display = shown ? '' : 'none'
          new IntersectionObserver(([{ isIntersecting }], own) => {
            if (isIntersecting === shown) noticed(own.disconnect())
          }).observe(board)
        })""",
        shown,
    )


@pytest.mark.thorough
def test_a_recording_plays_once_and_waits_for_who_sees_it(open_board: Open) -> None:
    page = open_board(recorded=60)
    page.get_by_text("Recorded run").wait_for()
    expect(page.get_by_role("slider", name="Look back at a step")).to_be_hidden()
    steps = set()
    for _ in range(4):
        page.clock.run_for(3000)
        steps.add(recorded_step(page))
    assert len(steps) >= 3

    show_page(page, shown=False)
    step_before = recorded_step(page)
    page.clock.run_for(10_000)  # fifty steps, were it going on
    assert 0 < recorded_step(page) == step_before < 300, "it waits while nobody sees it"

    show_page(page, shown=True)
    page.clock.run_for(60_000)
    assert recorded_step(page) == 300
    page.clock.run_for(10_000)
    assert recorded_step(page) == 300, "it does not begin again by itself"
