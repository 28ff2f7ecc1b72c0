"""Every line of the README's section on the command line runs as it stands there, in a folder of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.project import ROOT

pytestmark = pytest.mark.acceptance
(BLOCK,) = re.findall(r"^## Command line\n.*?```sh\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.M | re.S)
LINES = BLOCK.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all lines: a later one reads what an earlier one saved."""
    return tmp_path_factory.mktemp("reader")


@pytest.mark.parametrize("line", LINES)
def test_a_line_runs_as_written(line: str, folder: Path) -> None:
    program, *arguments = shlex.split(line)
    assert program == ".venv/bin/python"
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ATTENTION_LAB_DATA": str(folder / "data")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-5_000:]
    assert done.stdout.strip()
    assert done.stderr.count("Traceback") == 0
