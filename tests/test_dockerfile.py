"""Each line of the Dockerfile does what it says: on a folder that takes the place of the image's file system, without docker.

As root the app runs as the image's user, else as the user of the test.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path, PurePosixPath
from signal import SIGTERM
from threading import Thread

import pytest

from pages.parts.web.compose import healthz_route
from tests.serving import free_port, sign_of

ROOT = Path(__file__).parents[1]
# The tests' own Python may lie in root's home, which the image's user may not search.
UNDER = (
    "setpriv --reuid {} --regid 0 --clear-groups --no-new-privs --bounding-set -all,+dac_read_search "
    "--inh-caps -all,+dac_read_search --ambient-caps +dac_read_search"
)


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile, with its arguments, in order."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")]


def is_sent(file: str) -> bool:
    """True if docker sends a file to the build: the last line of .dockerignore that names it or a folder around it decides."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        paths = (PurePosixPath(file), *PurePosixPath(file).parents[:-1])
        named = (
            path.match(pattern) if line.startswith("**/") or pattern == "*" else str(path) == pattern for path in paths
        )
        if line and line[0] != "#" and any(named):
            sent = line[0] == "!"
    return sent


class Image:
    """The image's file system in a folder, the variables, and the user that its instructions have set so far."""

    def __init__(self, folder: Path, commit: str) -> None:
        self.folder, self.commit, self.port = folder, commit, str(free_port())
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "STREAMLIT_SERVER_PORT": self.port,
            "STREAMLIT_SERVER_HEADLESS": "true",
            "PIP_DRY_RUN": "1",  # what the line installs is here already, else pip would say what it "would install"
        }
        self.health, self.command = list[str](), list[str]()
        self.place, self.user, self.volume = folder, 0, ""
        (folder / "tmp").mkdir(mode=0o1777)

    def inside(self, words: str) -> str:
        """Words in which each path of the image lies in the folder, and the port is a free one."""
        return re.sub(r"(?<![\w.:])/(?=(data|tmp|app)\b)", f"{self.folder}/", words).replace("8501", self.port)

    def build(self) -> None:
        for name, rest in instructions():
            getattr(self, f"_{name.lower()}")(rest)  # an instruction that this class does not know fails

    def _from(self, rest: str) -> None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        assert re.fullmatch(r"python:3\.\d+-slim", rest)
        assert rest >= "python:3.11" or version == rest, "the oldest Python that the app supports, or this one"

    def _workdir(self, rest: str) -> None:
        self.place = Path(self.inside(rest))
        self.place.mkdir()

    def _copy(self, rest: str) -> None:
        *sources, to = shlex.split(rest)
        listed = subprocess.run(["git", "ls-files", *sources], cwd=ROOT, capture_output=True, text=True, check=True)
        files = [file for file in listed.stdout.splitlines() if is_sent(file)]
        for source in sources:
            assert any(PurePosixPath(file).is_relative_to(source) for file in files), source
            assert to in (source, "./"), "a folder keeps its place"
        for file in files:
            (self.place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.place / file)

    def _run(self, rest: str) -> None:
        done = subprocess.run(
            self.inside(rest), shell=True, cwd=self.place, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "Would install" not in done.stdout

    def _arg(self, rest: str) -> None:
        assert rest == 'COMMIT=""'

    def _env(self, rest: str) -> None:
        for word in shlex.split(rest):
            name, value = word.split("=", 1)
            self.environment[name] = self.inside(value.replace("$COMMIT", self.commit))

    def _volume(self, rest: str) -> None:
        self.volume = self.inside(rest)

    def _expose(self, rest: str) -> None:
        assert self.inside(rest) == self.port

    def _user(self, rest: str) -> None:
        self.user = int(rest)

    def _healthcheck(self, rest: str) -> None:
        (given,) = re.findall(r"CMD (\[.*\])", rest)
        self.health = [self.inside(word) for word in json.loads(given)]

    def _cmd(self, rest: str) -> None:
        self.command = json.loads(rest)

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        log = self.folder / "log.txt"
        under = UNDER.format(self.user).split() if os.geteuid() == 0 and shutil.which("setpriv") else []
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*under, *self.command],
                cwd=self.place, env=self.environment, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            sign_of(process, log, self.is_healthy)
            yield process
        finally:
            process.kill()
            process.wait()

    def is_healthy(self) -> bool:
        return subprocess.run(self.health, env=self.environment, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    """The built image, in a folder that every user of this machine may enter."""
    folder = Path("/tmp") / f"attention-lab-image-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        built = Image(folder, commit="0123456789abcdef")
        built.build()
        yield built
    finally:
        shutil.rmtree(folder)


@contextmanager
def answering(port: int, status: int) -> Iterator[None]:
    """A server whose health route, and only that, answers so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == healthz_route(dict).path else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", port), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_image_is_healthy_while_the_health_route_says_so(image: Image, status: int, healthy: bool) -> None:
    with answering(int(image.port), status):
        assert image.is_healthy() is healthy


@pytest.mark.thorough
def test_the_image_s_app_becomes_healthy_as_its_user_and_writes_to_its_volume_only(image: Image) -> None:
    before = sorted(image.place.rglob("*"))
    assert image.user >= 1000
    assert image.is_healthy() is False
    data = Path(image.environment["ATTENTION_LAB_DATA"])
    assert data.is_relative_to(image.volume)
    assert not data.exists()
    with image.running() as process:
        assert (data / "runs").exists() or any(data.iterdir())
        process.terminate()
        assert process.wait(120) in (0, -SIGTERM), "it ends when it is asked to"
    assert sorted(image.place.rglob("*")) == before, "its own files were compiled beforehand"


def test_what_the_image_exports_names_the_commit(image: Image) -> None:
    code = "from engine.foundation.provenance import provenance; print(provenance())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=image.place, env=image.environment, capture_output=True, text=True, check=True
    )
    assert image.commit[:7] in done.stdout


def test_no_history_data_tests_or_passwords_are_sent_to_the_build() -> None:
    secret = (
        ".git/config",
        ".venv/bin/python",
        "runs/a/state.pt",
        "tests/test_dockerfile.py",
        ".streamlit/secrets.toml",
    )
    assert [file for file in (*secret, "engine/__pycache__/a.pyc") if is_sent(file)] == []
