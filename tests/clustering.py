"""A Dask cluster on loopback: a scheduler and its workers, each a separate process, with certificates made for the test."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trustme
from distributed import Security

from tests.serving import ROOT, free_port, sign_of

# the first statement of a worker whose fork server is to import nothing
LIGHT = "from engine.serving.processes import forked; forked.WARM = ()"


@dataclass
class LoopbackCluster:
    scheduler: subprocess.Popen[bytes]
    address: str
    folder: Path
    environment: Mapping[str, str]
    security: Security
    light: bool
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add(self, *, port: int = 0, nanny: bool = False) -> subprocess.Popen[bytes]:
        """Start one more worker. ``nanny``: with Dask's process that starts it again when it was killed; ``port``: 0 is any."""
        log = self.folder / f"worker-{len(self.workers)}.txt"
        command = f"worker {self.address} --nthreads 1 --memory-limit 4GiB --worker-port {port} --{'' if nanny else 'no-'}nanny"
        self.workers.append(_dask(command, log, self.environment, *(["--preload", LIGHT] if self.light else [])))
        return self.workers[-1]

    def address_of(self, worker: subprocess.Popen[bytes]) -> str:
        log = self.folder / f"worker-{self.workers.index(worker)}.txt"
        return sign_of(worker, log, lambda: re.search(r"Start worker at:\s+(\S+)", log.read_text()))[1]


@contextmanager
def loopback_cluster(
    folder: Path, workers: int = 1, *, tls: bool = True, light: bool = False
) -> Iterator[LoopbackCluster]:
    """A scheduler with ``workers`` workers of one thread each. ``light``: their training needs no torch."""
    settings, log = certificates(folder) if tls else {}, folder / "scheduler.txt"
    environment = {f"DASK_DISTRIBUTED__COMM__{name}": value for name, value in settings.items()}
    address = f"{'tls' if tls else 'tcp'}://127.0.0.1:{free_port()}"
    host, _, number = address.rpartition(":")
    scheduler = _dask(f"scheduler --host {host} --port {number}", log, environment)
    encryption = {"tls_ca_file": str(folder / "ca.pem"), "require_encryption": True}
    encryption |= {f"tls_client_{name}": str(folder / "own.pem") for name in ("cert", "key")}
    security = Security(**encryption) if tls else Security()
    cluster = LoopbackCluster(scheduler, address, folder, environment, security, light)
    try:
        sign_of(scheduler, log, lambda: "Scheduler at:" in log.read_text())
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
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    certificate.private_key_and_cert_chain_pem.write_to_path(folder / "own.pem")
    settings = {"TLS__CA_FILE": str(folder / "ca.pem"), "REQUIRE_ENCRYPTION": "true"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"TLS__{role}__CERT": str(folder / "own.pem"), f"TLS__{role}__KEY": str(folder / "own.pem")}
    return settings


def _dask(command: str, log: Path, environment: Mapping[str, str], *more: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command.split(), "--no-dashboard", *more],
            cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment},
        )  # fmt: skip
