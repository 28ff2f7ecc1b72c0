"""The files that start a cluster on Kubernetes name the same things everywhere, and take no more rights than the image needs."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path, PurePosixPath
from threading import Thread
from typing import Any

import pytest
import yaml

from engine.foundation.files import DATA_VARIABLE
from pages.parts.web.compose import healthz_route

ROOT = Path(__file__).parents[1]
KUBERNETES = ROOT / "deploy" / "kubernetes"


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((KUBERNETES / name).read_text()))


def pods() -> list[dict[str, Any]]:
    settings, cluster, group = documents("cluster.yaml")
    app = documents("app.yaml")[1]
    assert settings["kind"] == "ConfigMap"
    workers = [kind["spec"]["worker"]["spec"] for kind in (cluster, group)]
    return [cluster["spec"]["scheduler"]["spec"], *workers, app["spec"]["template"]["spec"]]


def test_all_of_kubernetes_share_image_certificates_and_scheduler() -> None:
    settings = documents("cluster.yaml")[0]
    containers = [pod["containers"][0] for pod in pods()]
    assert len({container["image"] for container in containers}) == 1
    named = [{"configMapRef": {"name": settings["metadata"]["name"]}}]
    assert all(container["envFrom"] == named for container in containers)
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


# The image


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile, with what stands behind it, in their order."""
    lines = (KUBERNETES / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")]


def told(name: str) -> str:
    """What stands behind the last instruction of this name."""
    return [rest for given, rest in instructions() if given == name][-1]


def is_sent(file: str) -> bool:
    """Whether docker sends a file to the build: the last line of .dockerignore that names it or a folder around it decides."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        places = (PurePosixPath(file), *PurePosixPath(file).parents[:-1])
        named = (
            place.match(pattern) if line.startswith("**/") or pattern == "*" else str(place) == pattern
            for place in places
        )
        if line and line[0] != "#" and any(named):
            sent = line[0] == "!"
    return sent


def test_the_image_gets_the_app_and_nothing_that_is_not_copied_is_sent() -> None:
    copied = [source for name, rest in instructions() if name == "COPY" for source in shlex.split(rest)[:-1]]
    listed = subprocess.run(["git", "ls-files", *copied], cwd=ROOT, capture_output=True, text=True, check=True)
    files = listed.stdout.splitlines()
    assert {"app.py", "engine/__init__.py", "pages/main.py", ".streamlit/config.toml", "requirements.txt"} <= set(files)
    assert [file for file in files if not is_sent(file)] == []
    secret = (
        ".git/config",
        ".venv/bin/python",
        "runs/a/state.pt",
        "tests/test_kubernetes.py",
        ".streamlit/secrets.toml",
    )
    assert [file for file in (*secret, "engine/__pycache__/a.pyc") if is_sent(file)] == []


def test_the_image_s_user_is_nobody_s_superior_and_what_starts_it_reaps_and_is_installed() -> None:
    installs = " ".join(rest for name, rest in instructions() if name == "RUN" and "apt-get install" in rest)
    init = json.loads(told("ENTRYPOINT"))[0]
    assert re.search(rf"\b{init}\b", installs)
    assert re.search(rf"useradd --uid {told('USER')}\b", installs)
    for pod in pods():
        rights, container = pod["securityContext"], pod["containers"][0]
        assert (rights["runAsNonRoot"], rights["runAsUser"]) == (True, int(told("USER")))
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert "command" not in container, "it would take the place of the image's init"


def test_where_the_file_system_is_read_only_all_that_is_written_lies_on_a_volume_and_the_runs_on_one_that_stays() -> (
    None
):
    claim = documents("app.yaml")[0]
    for pod in pods():
        container, volumes = pod["containers"][0], {volume["name"]: volume for volume in pod["volumes"]}
        assert container["securityContext"]["readOnlyRootFilesystem"]
        writable = {
            mount["mountPath"]: mount["name"] for mount in container["volumeMounts"] if not mount.get("readOnly")
        }
        assert "/tmp" in writable
        for given in container.get("env", ()):
            if given["name"] == DATA_VARIABLE:
                (place,) = (path for path in writable if given["value"].startswith(f"{path}/"))
                assert volumes[writable[place]]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
                assert pod["securityContext"]["fsGroup"], "the volume is root's"


@contextmanager
def answering(status: int) -> Iterator[int]:
    """The port of a server whose health route, and only that, answers so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == healthz_route(dict).path else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Not on stderr."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(("status", "ends"), [(200, 0), (503, 1)])
def test_the_image_is_healthy_while_the_health_route_says_so(status: int, ends: int) -> None:
    (given,) = re.findall(r"CMD (\[.*\])", told("HEALTHCHECK"))
    _, *command = json.loads(given)
    with answering(status) as port:
        asked = [word.replace(f":{told('EXPOSE')}/", f":{port}/") for word in command]
        assert asked != command
        assert subprocess.run([sys.executable, *asked], capture_output=True).returncode == ends


def test_kubernetes_asks_the_health_route_at_the_port_of_the_app() -> None:
    container = pods()[-1]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert (asked["path"], ports[asked["port"]]) == (healthz_route(dict).path, int(told("EXPOSE")))
    patience = {
        probe: container[probe]["periodSeconds"] * container[probe]["failureThreshold"]
        for probe in ("readinessProbe", "livenessProbe")
    }
    assert patience["livenessProbe"] > patience["readinessProbe"], "a pod whose workers are replaced is not restarted"
