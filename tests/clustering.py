"""A Dask cluster on loopback: a scheduler and its workers, each a process of its own, with certificates made for the test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trustme
from distributed import Security

from tests.serving import ROOT, free_port

PATIENCE = 240.0


@dataclass
class LoopbackCluster:
    """A running scheduler, and the workers that were added."""

    address: str
    folder: Path
    environment: Mapping[str, str]
    security: Security
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add(
        self, *, threads: int = 1, port: int = 0, memory: str = "4GiB", folder: Path = ROOT, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start one more worker, without Dask's own process that would start it again when it was killed. ``port``: 0 is any."""
        log = self.folder / f"worker-{len(self.workers)}.txt"
        command = [
            "worker",
            self.address,
            "--nthreads",
            str(threads),
            "--memory-limit",
            memory,
            "--no-nanny",
            "--no-dashboard",
            "--worker-port",
            str(port),
        ]
        self.workers.append(_dask(command, log, {**self.environment, **environment}, folder))
        return self.workers[-1]

    def address_of(self, worker: subprocess.Popen[bytes]) -> str:
        """The address by which the cluster knows a worker."""
        log = self.folder / f"worker-{self.workers.index(worker)}.txt"
        return _said(log, r"Start worker at:\s+(\S+)", worker)


@contextmanager
def loopback_cluster(folder: Path, workers: int = 1, *, tls: bool = True, port: int = 0) -> Iterator[LoopbackCluster]:
    """A scheduler with ``workers`` workers of one thread each."""
    settings = certificates(folder) if tls else {}
    environment = {f"DASK_DISTRIBUTED__COMM__{name}": value for name, value in settings.items()}
    log = folder / "scheduler.txt"
    address = f"{'tls' if tls else 'tcp'}://127.0.0.1:{port or free_port()}"
    command = [
        "scheduler",
        "--host",
        address.rpartition(":")[0],
        "--port",
        address.rpartition(":")[2],
        "--no-dashboard",
    ]
    scheduler = _dask(command, log, environment, ROOT)
    cluster = LoopbackCluster(address, folder, environment, security_of(settings))
    try:
        _said(log, r"Scheduler at:\s+(\S+)", scheduler)
        for _ in range(workers):
            cluster.add()
        yield cluster
    finally:
        for process in (*cluster.workers, scheduler):
            with suppress(OSError):
                process.kill()
            process.wait()


def certificates(folder: Path) -> dict[str, str]:
    """Dask's settings with a certificate for 127.0.0.1, which scheduler, workers and app share, and the authority that made it."""
    authority = trustme.CA()
    own = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    own.private_key_and_cert_chain_pem.write_to_path(folder / "own.pem")
    settings = {"TLS__CA_FILE": str(folder / "ca.pem"), "REQUIRE_ENCRYPTION": "true"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"TLS__{role}__CERT": str(folder / "own.pem"), f"TLS__{role}__KEY": str(folder / "own.pem")}
    return settings


def security_of(settings: Mapping[str, str]) -> Security:
    if not settings:
        return Security()
    return Security(
        tls_ca_file=settings["TLS__CA_FILE"], tls_client_cert=settings["TLS__CLIENT__CERT"],
        tls_client_key=settings["TLS__CLIENT__KEY"], require_encryption=True,
    )  # fmt: skip


def _dask(command: list[str], log: Path, environment: Mapping[str, str], folder: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command],
            cwd=folder, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment},
        )  # fmt: skip


def _said(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    """What a process has written to its log after these words."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"It did not start:\n{log.read_text(errors='replace')[-3000:]}")
