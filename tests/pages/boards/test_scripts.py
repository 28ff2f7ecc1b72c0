import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from deno import find_deno_bin

from engine.analysis.measurements.pointing import flow_through
from pages.parts.boards.component import BoardKind
from pages.parts.boards.live.board import LIVE
from pages.parts.boards.live.columns import extreme_indices
from pages.parts.boards.panels import FIGURES
from pages.parts.charts.heat import grid
from tests.serving import ROOT

SCRIPTS = "../tests/pages/boards/scripts"
# outside its folder deno's settings do not hold
TESTS = f"fmt --check --no-config --no-semicolons --line-width 120 {SCRIPTS}"


def deno(folder: Path, *arguments: str) -> str:
    environment = {"DENO_DIR": str(folder), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    command = [find_deno_bin(), *arguments]
    done = subprocess.run(command, cwd=ROOT / "pages", env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("command", ["fmt --check", TESTS, "lint", "check . ../tests/pages", "test --no-check"])
def test_a_check_finds_nothing(command: str, tmp_path: Path) -> None:
    deno(tmp_path, *command.split())


@pytest.mark.parametrize("source", [LIVE, FIGURES], ids=["live", "figures"])
def test_the_module_of_a_board_can_be_loaded(source: BoardKind, tmp_path: Path) -> None:
    file = tmp_path / "board.js"
    file.write_bytes(source.plain)
    deno(tmp_path, "eval", f"globalThis.matchMedia = () => ({{}}); await import('{file.as_uri()}')")


def test_the_roll_out_is_that_of_the_engine(tmp_path: Path) -> None:
    patterns = np.random.default_rng(0).dirichlet(np.ones(5), (3, 2, 5))
    rolled_out = deno(tmp_path, "run", f"{SCRIPTS}/roll_out.js", json.dumps(grid(patterns, 0.0, 1.0)))
    exact = flow_through(torch.tensor(patterns.mean(1)).float()[:, None])[-1, 0, 4].numpy()
    np.testing.assert_allclose(json.loads(rolled_out), exact, atol=0.02)


def test_thinning_in_the_browser_is_the_same_rule(tmp_path: Path) -> None:
    values = np.random.default_rng(5).normal(size=3000).round(6).tolist()
    steps = list(range(7, 3007))
    thinned = deno(tmp_path, "run", f"{SCRIPTS}/thinned.js", json.dumps([[steps, values], 400]))
    expected = extreme_indices(np.array(steps), np.array(values), 400)
    assert json.loads(thinned) == [[line[part] for part in expected] for line in (steps, values)]
