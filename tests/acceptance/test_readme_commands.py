import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.serving import ROOT, free_port

pytestmark = pytest.mark.acceptance
(BLOCK,) = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "command-line.md").read_text(), flags=re.S)
LINES = BLOCK.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all lines: a later one reads what an earlier one saved."""
    return tmp_path_factory.mktemp("reader")


@pytest.mark.parametrize("line", LINES)
def test_a_line_runs_as_written(line: str, folder: Path) -> None:
    program, *arguments = shlex.split(line)
    assert program == ".venv/bin/python"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "ATTENTION_LAB_DATA": str(folder / "data")}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-5_000:]
    assert done.stdout.strip()
    assert done.stderr.count("Traceback") == 0


def sourced(file: Path) -> dict[str, str]:
    """The variables that a file of ``export NAME='value'`` lines sets."""
    words = [shlex.split(line)[1] for line in file.read_text().splitlines()]
    return dict(word.split("=", 1) for word in words)


def test_the_commands_for_one_machine_train_through_tls(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "cluster.md").read_text()
    (block,) = re.findall(r"^## A cluster on one machine\n.*?```sh\n(.*?)```", text, flags=re.M | re.S)
    made, *started = block.replace("~", str(tmp_path)).splitlines()
    subprocess.run(["sh", "-c", made], cwd=ROOT, check=True)
    folder, port = tmp_path / "attention-lab-tls", str(free_port())
    assert not any(file.stat().st_mode & 0o077 for file in folder.iterdir()), "readable for the owner only"
    environment = os.environ | sourced(folder / "tls.env") | {"ATTENTION_LAB_DATA": str(tmp_path / "data")}
    commands = [line.replace(".venv/bin/python", sys.executable).replace("8786", port).split() for line in started]
    cluster = [subprocess.Popen(one, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) for one in commands]
    train = f"-m engine train --steps 5 --json --scheduler tls://127.0.0.1:{port}".split()
    try:
        there = subprocess.run([sys.executable, *train], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert there.returncode == 0, there.stderr
        assert '"finished"' in there.stdout
        processes = [
            two for one in cluster for two in (psutil.Process(one.pid), *psutil.Process(one.pid).children(True))
        ]
        found = [one for process in processes for one in process.net_connections() if one.status == psutil.CONN_LISTEN]
        assert {one.laddr.ip for one in found} == {"127.0.0.1"}, "Dask serves plain HTTP, too"
    finally:
        for one in cluster:
            one.terminate()
        for one in cluster:
            one.wait()
