"""What the app costs, seen from a browser: ``python -m tests.benchmarks.app [--json]``. One run, about two minutes.

first page        `streamlit run` to a complete start page (s)
click to point    Train to the first plotted point, alone and beside ten sessions that train and stream (s)
updates           redraws of the loss a second while a run trains at full speed
speed             steps a second with the page open against the bare loop in a process of its own, in pairs
page process      resident memory (bytes), without torch, after all of this
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from engine.foundation.child import KEPT_BLOCKS
from tests.browser.conftest import FLAGS
from tests.serving import running

CLICKS = 5
SESSIONS = 10
PAIRS = 3
STEPS = 1500
WATCHED = 5.0
"""Seconds of counting redraws."""
PLOT = "article.loss .plot"
BARE = """
import sys, time, torch
from engine.config.run_config import RunConfig
from engine.runs.events import Progress
from engine.training.train import train
torch.set_num_threads(1)
for _ in train(RunConfig().replace(steps=5)): pass
began = None
for event in train(RunConfig().replace(steps=int(sys.argv[1]))):
    if isinstance(event, Progress) and event.step == 1: began = time.perf_counter()
    if isinstance(event, Progress) and event.step == int(sys.argv[1]): print(time.perf_counter() - began)
"""


@contextmanager
def app_in_a_browser() -> Iterator[tuple[Browser, psutil.Process, str]]:
    """A browser, and the app's process and address, once it answers."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        with running("app.py", Path(folder)) as (server, address):
            yield browser, psutil.Process(server.pid), address
        browser.close()


def open_lab(browser: Browser, address: str, query: str) -> Page:
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    page.goto(f"{address}lab?{query}")
    page.get_by_role("button", name="Train").wait_for()
    page.wait_for_timeout(500)
    return page


def click_to_point(page: Page) -> float:
    """Seconds from the click on Train to the first point, both by the browser's own clock."""
    page.evaluate(
        """() => {
          window.pointed = null
          addEventListener("click", () => { window.clicked = performance.now() }, { capture: true, once: true })
          const boards = () => [document, ...[...document.querySelectorAll("*")].map((n) => n.shadowRoot).filter(Boolean)]
          const plot = () => boards().map((root) => root.querySelector("article.loss .plot")).find(Boolean)?.dataset ?? {}
          const before = plot().run
          const look = () => {
            // The run before stays on the plot until the new one has a point.
            if (window.clicked && plot().run !== before && Number(plot().step) >= 1) window.pointed = performance.now()
            else requestAnimationFrame(look)
          }
          window.clicked = null
          look()
        }"""
    )
    page.get_by_role("button", name="Train").click()
    page.wait_for_function("() => window.pointed", timeout=60_000)
    seconds: float = page.evaluate("() => (window.pointed - window.clicked) / 1000")
    stop(page)
    return seconds


def stop(page: Page) -> None:
    # Streamlit has a Stop of its own in the header while a script runs.
    page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Stop", exact=True).click()
    page.locator(".board .badge").get_by_text("Stopped").wait_for()


def updates_per_second(page: Page) -> float:
    count: int = page.locator(PLOT).evaluate(
        """(plot, seconds) => new Promise((done) => {
          let count = 0
          plot.on("plotly_afterplot", () => { count += 1 })
          setTimeout(() => done(count), seconds * 1000)
        })""",
        WATCHED,
    )
    return count / WATCHED


def step(page: Page) -> int:
    return int(page.locator(PLOT).get_attribute("data-step") or 0)


def open_page_speed(page: Page) -> float:
    """Steps a second of a run that is being watched."""
    before = page.locator(PLOT).get_attribute("data-run")  # the plot shows it until the new one has begun
    page.get_by_role("button", name="Train").click()
    while page.locator(PLOT).get_attribute("data-run") == before or step(page) < 100:
        page.wait_for_timeout(20)
    began, first = time.perf_counter(), step(page)
    while (now := step(page)) < first + STEPS:
        page.wait_for_timeout(50)
    rate = (now - first) / (time.perf_counter() - began)
    stop(page)
    return rate


def bare_seconds(steps: int) -> float:
    """From the first step to the last of the default run, in a process of its own without any pool."""
    command = [sys.executable, "-c", BARE, str(steps)]
    environment = KEPT_BLOCKS | os.environ  # as a worker has it
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def read_to_the_end(stream: Any) -> None:
    with suppress(Exception):  # it is closed under our hands at the end
        while stream.read1(1 << 16):
            pass


@contextmanager
def sessions_training(browser: Browser, address: str, count: int) -> Iterator[None]:
    """So many sessions that each train and read their run's stream; their pages are closed, which draws nothing here."""
    streams: list[Any] = []
    for seed in range(count):
        page = open_lab(browser, address, f"steps=50000&seed={seed}")
        page.get_by_role("button", name="Train").click()
        page.wait_for_url(lambda url: "run=" in url)
        run_id = page.url.split("run=")[1].split("&")[0]
        page.context.close()
        streams.append(urllib.request.urlopen(f"{address}live/{run_id}", timeout=600))
        threading.Thread(target=read_to_the_end, args=(streams[-1],), daemon=True).start()
    yield
    for stream in streams:
        with suppress(Exception):
            stream.close()


def measure() -> Iterator[tuple[str, float]]:
    """Name and value, each as soon as it is known."""
    began = time.perf_counter()
    with app_in_a_browser() as (browser, process, address):
        page = browser.new_page()
        page.goto(address)
        page.get_by_text("Made to fail").wait_for()
        yield "first page (s)", time.perf_counter() - began
        page.close()
        time.sleep(10)  # the workers warm up

        page = open_lab(browser, address, "steps=50000")
        yield "click to point, alone (s)", statistics.median(click_to_point(page) for _ in range(CLICKS))
        page.get_by_role("button", name="Train").click()
        while step(page) < 50:
            page.wait_for_timeout(20)
        yield "updates a second", updates_per_second(page)
        stop(page)
        pairs = [((STEPS - 1) / bare_seconds(STEPS), open_page_speed(page)) for _ in range(PAIRS)]
        yield "steps a second, bare", statistics.median(bare for bare, _ in pairs)
        yield "steps a second, page open", statistics.median(watched for _, watched in pairs)
        yield "share of the bare speed", statistics.median(watched / bare for bare, watched in pairs)
        with sessions_training(browser, address, SESSIONS):
            times = [click_to_point(page) for _ in range(CLICKS)]
            yield "click to point, beside ten sessions (s)", statistics.median(times)
            yield "page process (MB)", process.memory_info().rss / 1e6


def print_as_measured(about: str | None, figures: Iterator[tuple[str, float]]) -> None:
    """A line for each figure as soon as it is known; ``about`` is the help."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    for name, value in figures:
        print(json.dumps({name: value}) if given.json else f"{name:42} {value:10.3g}", flush=True)


if __name__ == "__main__":
    print_as_measured(__doc__, measure())
