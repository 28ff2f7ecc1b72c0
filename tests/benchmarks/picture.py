"""The cost of redrawing the model's picture: ``python -m tests.benchmarks.picture``. A few seconds; prints milliseconds of the browser.

A redraw is the script's work and the layout that follows, for a new snapshot each time; the picture is drawn by its own scripts and
styles, on a page without a server.
"""

import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from engine.config.run_config import RunConfig, parse
from engine.runs.events import Sample, Snapshot
from pages.parts.boards.component import SHELL, joined
from pages.parts.boards.live.board import LIVE
from pages.parts.boards.live.feed import plain_snapshot
from pages.parts.boards.live.stack import stack_of
from tests.browser.conftest import launched
from tests.tables import tables_beside

REDRAWS = 60
CASES = tables_beside(__file__)
PAGE = Path(__file__).with_suffix(".html").read_text("utf-8")


def looks(config: RunConfig) -> list[dict[str, Any]]:
    """Snapshots of a model whose attention, and whose paths of answers, change from one to the next."""
    random = np.random.default_rng(0)
    own = 2 * config.seq_len - 1 if config.family == "decoder" else config.seq_len
    shape = (config.n_layers, config.n_heads, own)

    def attention() -> np.ndarray:
        return random.dirichlet(np.full(own, 0.1), shape).astype(np.float32)

    kinds = ("encoder", "self", "cross") if config.family == "encoder_decoder" else ("self",)
    source = [str(n % 10) for n in range(own)] if len(kinds) > 1 else []
    plain = []
    for step in range(REDRAWS):
        written = [str(n) for n in random.integers(0, 10, own)]
        sample = Sample([str(n % 10) for n in range(own)], [str(n % 10) for n in range(own)], written, source)
        residual = {name: random.uniform(0.1, 1.0, (config.n_layers + 1, own)) for name in ("norm", "right", "encoder")}
        added = {kind: random.normal(size=shape) for kind in kinds if kind != "encoder"}
        added["mlp"] = random.normal(size=(config.n_layers, own))
        patterns = {kind: attention() for kind in kinds}
        plain.append(plain_snapshot(Snapshot(step, patterns, {}, [sample], residual=residual, contributions=added)))
    return plain


def main() -> None:
    style = (SHELL / "shell.css").read_text("utf-8") + (LIVE.folder / "live.css").read_text("utf-8")
    script = joined(LIVE.folder / "script" / "stack" / "stack.js")
    print("| model | width (px) | median (ms) | largest (ms) |")
    print("|---|--:|--:|--:|")
    with launched() as browser, tempfile.TemporaryDirectory() as folder:
        for name, settings in CASES.items():
            config = parse(settings)
            parts = {"style": style, "script": script, "model": json.dumps(stack_of(config) | {"controls": True})}
            told = json.dumps(looks(config))
            for width in (1120, 358):
                file = Path(folder) / "page.html"
                file.write_text(PAGE.format(width=width, snapshots=told, **parts), "utf-8")
                page: Any = browser.new_page(viewport={"width": 1280, "height": 900})  # type: ignore[attr-defined]
                page.goto(file.as_uri())
                page.wait_for_function("() => window.redraws")
                page.evaluate("redraws()")  # once, so that the scripts are compiled
                times = page.evaluate("redraws()")
                print(f"| {name} | {width} | {statistics.median(times):.1f} | {max(times):.1f} |", flush=True)
                page.close()


if __name__ == "__main__":
    main()
