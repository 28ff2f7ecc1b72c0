"""The live board in a real browser, on scripted runs."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Open, console_watched, running
from tests.browser.prefix_proxy import proxied

names = (f"run{number}" for number in count())


@pytest.fixture(scope="module")
def site(serve: Any) -> str:
    address: str = serve("tests/browser/site/app.py")
    return address


@pytest.fixture
def open_board(chromium: Any, site: str) -> Iterator[Open]:
    """Open a page of the site on a new scripted run; at the end nothing may have gone wrong in the console."""
    with console_watched(chromium) as new_page:

        def open_(address: str = site, before: Callable[[Any], None] | None = None, **query: object) -> Any:
            size = {"width": 1366, "height": 900}
            page = new_page(viewport=size, color_scheme=query.pop("scheme", "light"), accept_downloads=True)
            if before is not None:
                before(page)
            given = {"run": next(names), "rate": 60} | query
            page.goto(address + "?" + "&".join(f"{name}={value}" for name, value in given.items()))
            page.locator(".board .status").wait_for()
            return page

        yield open_


def plot(page: Any, name: str) -> Any:
    return page.locator(f"section.{name} .plot")


def step(page: Any) -> int:
    return int(plot(page, "loss").get_attribute("data-step") or 0)


def until_step(page: Any, least: int) -> None:
    plot(page, "loss").and_(page.locator("[data-step]")).wait_for()
    plot(page, "loss").evaluate(
        "(node, least) => new Promise((done) => { const look = () => node.dataset.step >= least ? done() : setTimeout(look, 20); look() })",
        least,
    )


def scripts_run(page: Any) -> str:
    text: str = page.get_by_text("script runs:").inner_text()
    return text


def test_the_curve_grows_without_the_script_being_rerun(open_board: Open) -> None:
    page = open_board(steps=2000)
    until_step(page, 20)
    before = scripts_run(page)
    until_step(page, step(page) + 60)
    assert scripts_run(page) == before
    drawn = plot(page, "loss").evaluate("node => node.data.map(trace => trace.x.length)")
    assert min(drawn) > 0
    assert "Training" in page.locator(".badge").inner_text()


def test_ten_updates_a_second_or_nearly(open_board: Open) -> None:
    """Counted, not timed against a limit that a busy machine would break: more than one redraw for ten messages."""
    page = open_board(steps=5000, rate=200)
    until_step(page, 100)
    began = int(plot(page, "loss").get_attribute("data-draws"))
    until_step(page, step(page) + 600)
    assert int(plot(page, "loss").get_attribute("data-draws")) - began >= 5


def test_node_zoom_and_legend_survive_reruns_and_updates(open_board: Open) -> None:
    page = open_board(steps=5000)
    until_step(page, 30)
    loss = plot(page, "loss")
    loss.evaluate("node => { node.marked = true }")
    box = loss.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.01, box["y"] + box["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.8, steps=5)
    page.mouse.up()
    loss.locator(".legendtoggle").first.click()
    page.wait_for_timeout(700)
    seen = "node => ({ x: node._fullLayout.xaxis.range, hidden: node._fullData[0].visible })"
    zoomed = loss.evaluate(seen)
    assert zoomed["x"][1] < 4000
    assert zoomed["hidden"] == "legendonly"
    before = scripts_run(page)
    page.get_by_role("slider", name="A slider").press("ArrowRight")
    page.get_by_text("Earlier run").click()
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)
    until_step(page, step(page) + 40)
    assert loss.evaluate("node => node.marked") is True, "the same node"
    assert loss.evaluate(seen) == zoomed
    assert loss.evaluate("node => node.data.length") == 3, "and the earlier run is there"


def test_another_run_takes_the_place_on_the_same_node(open_board: Open) -> None:
    page = open_board(rate=500)
    until_step(page, 300)
    plot(page, "loss").evaluate("node => { node.marked = true }")
    page.get_by_text("Another run").click()
    page.locator(".badge[data-state=running]").wait_for()
    page.locator(".badge[data-state=finished]").wait_for()
    until_step(page, 300)
    assert plot(page, "loss").evaluate("node => [node.marked, node.data[0].x.length]") == [True, 300]


def test_the_end_is_told_to_the_page_once(open_board: Open) -> None:
    page = open_board(rate=300)
    page.get_by_text("page knows: finished").wait_for()
    settled = scripts_run(page)
    page.wait_for_timeout(1500)
    assert scripts_run(page) == settled
    page.locator("section.memory").scroll_into_view_if_needed()
    page.locator('section.memory .plot[aria-label*="Measured: parameters"]').wait_for()


def test_a_tile_is_enlarged_by_click_and_by_keyboard(open_board: Open) -> None:
    page = open_board(family="encoder_decoder", steps=5000)
    page.locator("section.attention .nsewdrag").first.wait_for()
    box = page.locator("section.attention .nsewdrag").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.8)
    page.locator('section.pattern .plot[aria-label^="Layer 2, head 3"]').wait_for()
    page.get_by_label("Head", exact=True).select_option("0")
    page.locator('section.pattern .plot[aria-label^="Layer 2, head 1"]').wait_for()
    page.get_by_role("button", name="Cross").press("Enter")
    page.wait_for_function(
        """() => [...document.querySelectorAll('*')].some(host => host.shadowRoot?.querySelector('section.pattern .plot')
           ?._fullLayout?.xaxis.ticktext?.length === 6)"""
    )
    box = page.locator("section.pattern .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    tip = page.locator(".tip").inner_text()
    assert re.fullmatch(r"query \d+ “\S+” → key \d+ “\S+”: [01]\.\d{3}", tip), tip


def test_replay_goes_back_and_live_comes_back(open_board: Open) -> None:
    page = open_board(steps=5000)
    page.set_viewport_size({"width": 1366, "height": 1900})  # Panels out of sight are not redrawn.
    until_step(page, 60)
    page.locator(".replay input").fill("2")
    page.get_by_text(re.compile(r"looking at step 2\b")).wait_for()
    page.wait_for_timeout(500)  # the panels follow within a frame or two
    assert "of 24 right" in page.locator(".score").inner_text()
    early = page.locator(".score").inner_text()
    assert plot(page, "loss").evaluate("node => node.layout.shapes.at(-1).x0") == 2
    until_step(page, step(page) + 40)
    assert page.locator(".score").inner_text() == early, "looking back holds while training goes on"
    page.get_by_role("button", name="Live").click()
    page.get_by_text(re.compile(r"looking at step \d\d")).wait_for()


def test_downloads_are_made_in_the_browser(open_board: Open, tmp_path: Path) -> None:
    page = open_board(rate=600)
    page.locator(".badge[data-state=finished]").wait_for()
    until_step(page, 300)
    begins = {"Picture (PNG)": b"\x89PNG", "Drawing (SVG)": b"<svg", "Data (CSV)": b"series,x,y,value"}
    for item, first_bytes in begins.items():
        page.get_by_label("Download Loss").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=item).click()
        target = tmp_path / download.value.suggested_filename
        download.value.save_as(target)
        assert target.read_bytes().startswith(first_bytes)
        assert target.stem == "a-scripted-run-loss"
    rows = (tmp_path / "a-scripted-run-loss.csv").read_text().splitlines()
    assert sum(row.startswith("training,") for row in rows) == 300


def test_a_swallowed_stream_falls_back_to_polling(open_board: Open) -> None:
    def swallow(page: Any) -> None:
        page.route("**/live/**", lambda route: None)  # never answered

    page = open_board(before=swallow, steps=5000)
    plot(page, "loss").evaluate("node => { node.marked = true }")
    page.get_by_text("polling: True").wait_for()
    until_step(page, 60)
    until_step(page, step(page) + 60)
    assert plot(page, "loss").evaluate("node => node.marked") is True
    steps = plot(page, "loss").evaluate("node => Array.from(node.data[0].x)")
    assert steps == sorted(set(steps))
    assert steps == list(range(1, len(steps) + 1)), "no gap, no double"


def test_polling_ends_with_the_run(open_board: Open) -> None:
    """Not asked: that the node stays. A poll that was on its way when the page turned may make Streamlit mount it anew."""
    page = open_board(before=lambda page: page.route("**/live/**", lambda route: None), rate=25)
    until_step(page, 20)
    page.get_by_text("page knows: finished, polling: False").wait_for()
    until_step(page, 300)


def test_a_reconnecting_stream_resumes_without_gap_or_double(open_board: Open) -> None:
    page = open_board(steps=5000)
    until_step(page, 30)
    page.context.set_offline(True)
    page.wait_for_timeout(500)
    page.context.set_offline(False)
    until_step(page, step(page) + 60)
    steps = plot(page, "loss").evaluate("node => Array.from(node.data[0].x)")
    assert steps == sorted(set(steps))
    assert len(steps) >= 30


def test_data_that_overtake_each_other_do_not_end_the_board(open_board: Open) -> None:
    """Streamlit then calls the cleanup of the overtaken data although the component stays."""
    page = open_board(steps=5000)
    until_step(page, 10)
    plot(page, "loss").evaluate("node => { node.marked = true }")
    for _ in range(4):
        page.get_by_text("Earlier run").click()
        page.emulate_media(color_scheme="dark")
        page.emulate_media(color_scheme="light")
    until_step(page, step(page) + 30)
    assert plot(page, "loss").evaluate("node => node.marked") is True


def test_leaving_closes_the_stream(open_board: Open) -> None:
    page = open_board(steps=5000)
    until_step(page, 10)
    page.evaluate(
        """() => { const close = EventSource.prototype.close
           EventSource.prototype.close = function () { window.streamClosed = this.url; return close.call(this) } }"""
    )
    page.get_by_text("No board").click()
    page.locator(".board").wait_for(state="detached")
    page.wait_for_function("() => window.streamClosed?.includes('/live/')")


def test_one_stream_a_page_and_none_after_the_end(open_board: Open) -> None:
    asked = list[str]()
    page = open_board(
        before=lambda page: page.on("request", lambda r: asked.append(r.url) if "/live/" in r.url else None), rate=300
    )
    page.get_by_text("page knows: finished").wait_for()
    page.wait_for_timeout(2500)
    assert len(asked) == 1, asked


def test_a_queued_run_says_its_place(open_board: Open) -> None:
    page = open_board(rate=0)
    page.get_by_text("place 3 in the queue").wait_for()
    assert page.get_by_text("waiting for the first step").count() == 3


def test_a_recording_plays_by_itself_and_can_be_stopped(open_board: Open) -> None:
    page = open_board(recorded=6)
    page.locator(".badge[data-state=recorded]").wait_for()
    until_step(page, 30)
    page.get_by_role("button", name="Pause the replay").click()
    page.wait_for_timeout(300)
    held = step(page)
    page.wait_for_timeout(600)
    assert step(page) == held < 300


def test_less_motion_shows_the_end_at_once(open_board: Open) -> None:
    page = open_board(before=lambda page: page.emulate_media(reduced_motion="reduce"), recorded=30)
    until_step(page, 300)


def test_figures_follow_the_theme(open_board: Open) -> None:
    ink = "node => node._fullLayout.font.color"
    pages = {scheme: open_board(scheme=scheme, rate=600) for scheme in ("light", "dark")}
    for page in pages.values():
        until_step(page, 300)
    light, dark = (plot(page, "loss").evaluate(ink).lower() for page in pages.values())
    assert (light, dark) == ("#1b2330", "#e6eaf2")


def test_on_a_phone_panels_stack_and_nothing_sticks_out(open_board: Open) -> None:
    page = open_board(rate=600)
    page.set_viewport_size({"width": 390, "height": 844})
    until_step(page, 300)
    boxes = [page.locator(f"section.{name}").bounding_box() for name in ("loss", "accuracy", "attention", "pattern")]
    assert all(lower["y"] > upper["y"] for upper, lower in pairwise(boxes))
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    page.wait_for_timeout(500)
    assert plot(page, "loss").evaluate("node => node._fullLayout.width") <= boxes[0]["width"]


def test_panels_keep_their_height_from_the_start(open_board: Open) -> None:
    page = open_board(rate=0)
    empty = page.locator("section.loss").bounding_box()
    filled = open_board(rate=600)
    until_step(filled, 300)
    assert filled.locator("section.loss").bounding_box()["height"] == empty["height"]


def test_a_board_without_a_run_is_filled_by_the_first(open_board: Open) -> None:
    page = open_board(click=1, rate=600)
    page.locator(".badge[data-state=none]").wait_for()
    assert page.get_by_text("no run yet").count() > 0
    plot(page, "loss").evaluate("node => { node.marked = true }")
    page.get_by_role("button", name="Begin").click()
    until_step(page, 300)
    assert plot(page, "loss").evaluate("node => node.marked") is True


def test_the_server_stops_although_somebody_listens(tmp_path: Path) -> None:
    with running("tests/browser/site/app.py", tmp_path) as (process, address):
        stream = urllib.request.urlopen(f"{address}live/waiting")
        assert b"retry" in stream.readline()
        process.terminate()
        assert process.wait(30) is not None
        stream.close()


def test_behind_a_path_prefix(open_board: Open, site: str) -> None:
    with proxied(site, "/shared/lab") as address:
        page = open_board(address=address, rate=600)
        until_step(page, 300)
        assert page.get_by_text("polling: False").count() == 1


def test_under_a_configured_base_path(open_board: Open, serve: Any) -> None:
    address = serve("tests/browser/site/app.py", STREAMLIT_SERVER_BASE_URL_PATH="courses/lab")
    page = open_board(address=address, rate=600)
    until_step(page, 300)
    assert page.get_by_text("polling: False").count() == 1


def test_thinning_in_the_browser_is_the_same_rule(chromium: Any) -> None:
    import numpy as np

    from pages.parts.live.board import HERE
    from pages.parts.live.columns import thin

    values = np.random.default_rng(5).normal(size=3000).round(6).tolist()
    steps = list(range(7, 3007))
    page = chromium.new_page()
    script = (HERE / "script" / "columns.js").read_text()
    there = page.evaluate(f"([x, y]) => {{ {script}; return thin([x, y], 400) }}", [steps, values])
    page.close()
    here = thin(steps, values, 400)
    assert json.loads(json.dumps(there)) == [list(here[0]), list(here[1])]
