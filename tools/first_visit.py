"""A first visit over a slow line: ``python -m tools.first_visit``. Beside a plain Streamlit page with a title and one chart.

The browser has no file yet and gets 3 Mbit/s with 40 ms to the server and back, as thirty phones have on one access point. Seconds
until the words, the picture of the model and the first plot are there, and megabytes until nothing more comes; medians of several
visits.
"""

import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.server import chromium, start_server

VISITS, MEGABITS, LATENCY = 3, 3, 40
PLAIN = """import streamlit as st
import plotly.graph_objects as go
st.title("A plain page")
st.plotly_chart(go.Figure(go.Scatter(x=[1, 2, 3], y=[1, 4, 9])))
"""
# selectors of the first nodes
SIGNS = {"words": "h1", "picture": "article.stack .arcs path", "first plot": ".js-plotly-plot .main-svg"}


def visit(browser: Any, address: str, signs: Iterable[str]) -> dict[str, float]:
    """Seconds until each sign is on the page, and the megabytes of all answers."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    network, received = page.context.new_cdp_session(page), list[float]()
    network.send("Network.enable")
    rate = MEGABITS * 1e6 / 8
    limits = {"offline": False, "latency": LATENCY, "downloadThroughput": rate, "uploadThroughput": rate}
    network.send("Network.emulateNetworkConditions", limits)
    network.on("Network.loadingFinished", lambda answer: received.append(answer["encodedDataLength"]))
    page.goto(address, wait_until="commit")
    seconds = {}
    for name in signs:
        page.locator(SIGNS[name]).first.wait_for(state="attached", timeout=60_000)
        seconds[name] = page.evaluate("performance.now()") / 1000
    page.wait_for_load_state("networkidle", timeout=60_000)
    page.context.close()
    return seconds | {"MB": sum(received) / 1e6}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        plain = Path(folder) / "plain.py"
        plain.write_text(PLAIN, "utf-8")
        with start_server("app.py", Path(folder)) as (_, ours), start_server(str(plain), Path(folder)) as (_, bare):
            for name, address, *signs in [
                ("Start", ours, "words", "picture"),
                ("Lab", f"{ours}lab", "picture", "first plot"),
                ("a plain page", bare, "words", "first plot"),
            ]:
                visits = [visit(browser, address, signs) for _ in range(VISITS)]
                medians = (f"{key} {statistics.median(one[key] for one in visits):.1f}" for key in visits[0])
                print(f"{name}: {', '.join(medians)}", flush=True)


if __name__ == "__main__":
    main()
