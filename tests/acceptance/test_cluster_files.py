"""The files that start a cluster: those for one machine train with TLS, and those for Kubernetes name the same things everywhere."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.acceptance.project import ROOT
from tests.serving import free_port

KUBERNETES = ROOT / "deploy" / "kubernetes"


def sourced(file: Path) -> dict[str, str]:
    """The variables that a file of ``export NAME='value'`` lines sets."""
    words = [shlex.split(line)[1] for line in file.read_text().splitlines()]
    return dict(word.split("=", 1) for word in words)


@pytest.mark.acceptance
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


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((KUBERNETES / name).read_text()))


def pods() -> list[dict[str, Any]]:
    settings, cluster, group = documents("cluster.yaml")
    app, _ = documents("app.yaml")
    assert settings["kind"] == "ConfigMap"
    return [
        cluster["spec"]["scheduler"]["spec"],
        cluster["spec"]["worker"]["spec"],
        group["spec"]["worker"]["spec"],
        app["spec"]["template"]["spec"],
    ]


def test_all_of_kubernetes_share_image_certificates_and_scheduler() -> None:
    settings = documents("cluster.yaml")[0]
    containers = [pod["containers"][0] for pod in pods()]
    assert len({container["image"] for container in containers}) == 1
    assert all(
        container["envFrom"] == [{"configMapRef": {"name": settings["metadata"]["name"]}}] for container in containers
    )
    assert len({pod["volumes"][0]["secret"]["secretName"] for pod in pods()}) == 1
    assert all(container["volumeMounts"][0]["mountPath"] == "/tls" for container in containers)
    address = settings["data"]["DASK_SCHEDULER_ADDRESS"]
    assert {"name": "ATTENTION_LAB_SCHEDULER", "value": address} in containers[-1]["env"]
    assert address.startswith("tls://")


def test_each_worker_of_kubernetes_has_one_thread_and_the_memory_that_dask_is_told() -> None:
    for pod in pods()[1:3]:
        words, limits = pod["containers"][0]["args"], pod["containers"][0]["resources"]["limits"]
        assert words[words.index("--nthreads") + 1] == "1"
        assert words[words.index("--memory-limit") + 1] == f"{limits['memory']}B"
