"""The files that start a cluster on one machine: it trains with TLS."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.acceptance.project import ROOT
from tests.serving import free_port

pytestmark = pytest.mark.acceptance


def sourced(file: Path) -> dict[str, str]:
    """The variables that a file of ``export NAME='value'`` lines sets."""
    words = [shlex.split(line)[1] for line in file.read_text().splitlines()]
    return dict(word.split("=", 1) for word in words)


def test_one_machine_trains_through_tls_with_the_certificates_made_here(tmp_path: Path) -> None:
    subprocess.run(["sh", "deploy/certificates.sh", str(tmp_path / "tls")], cwd=ROOT, check=True)
    tls, port = sourced(tmp_path / "tls" / "tls.env"), str(free_port())
    assert not any(file.stat().st_mode & 0o077 for file in (tmp_path / "tls").iterdir()), "readable for the owner only"
    environment = {
        **os.environ,
        **tls,
        "PYTHON": sys.executable,
        "PORT": port,
        "ATTENTION_LAB_DATA": str(tmp_path / "data"),
    }
    cluster = subprocess.Popen(["sh", "deploy/local.sh", "1"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    train = [
        sys.executable,
        "-m",
        "engine",
        "train",
        "--steps",
        "5",
        "--json",
        "--scheduler",
        f"tls://127.0.0.1:{port}",
    ]
    try:
        there = subprocess.run(train, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert there.returncode == 0, there.stderr
        assert '"finished"' in there.stdout
        listening = [
            one.laddr.ip
            for process in psutil.Process(cluster.pid).children(recursive=True)
            for one in process.net_connections()
            if one.status == psutil.CONN_LISTEN
        ]
        assert listening
        assert set(listening) == {"127.0.0.1"}, "Dask serves plain HTTP without dashboards, too"
    finally:
        cluster.terminate()
        cluster.wait(30)
