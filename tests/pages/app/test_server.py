import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.serving.limits import PROFILE, Limits
from pages.parts.app.server import start_lines
from tests.serving import ROOT, free_port, start_server

TAKE = "from pages.parts.app.server import take_data; take_data(); print('taken', flush=True); input()"


def taking(data: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"ATTENTION_LAB_DATA": str(data)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", TAKE], cwd=ROOT, env=environment, text=True, **pipes)  # type: ignore[call-overload]


def test_a_second_server_on_a_data_folder_ends_with_one_sentence_and_that_of_a_killed_one_is_free_at_once(
    tmp_path: Path,
) -> None:
    first = taking(tmp_path)
    assert first.stdout.readline() == "taken\n"
    output = taking(tmp_path).communicate()
    assert output == (
        "",
        f"Another server uses the data folder {tmp_path}. Stop it first, or name another folder in ATTENTION_LAB_DATA.\n",
    )
    other = taking(tmp_path / "other")
    assert other.stdout.readline() == "taken\n"
    first.kill()
    first.wait()
    again = taking(tmp_path)
    assert again.stdout.readline() == "taken\n"
    for process in (other, again):
        process.communicate("\n")
        assert process.returncode == 0


@pytest.mark.thorough
def test_streamlit_ends_where_another_server_has_the_data_and_starts_once_that_one_was_killed(tmp_path: Path) -> None:
    environment = {"STREAMLIT_SERVER_PORT": str(free_port()), "ATTENTION_LAB_DATA": str(tmp_path / "data")}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    with start_server("app.py", tmp_path) as (server, _):
        second = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
        assert second.returncode != 0
        assert f"Another server uses the data folder {tmp_path / 'data'}." in second.stdout + second.stderr
        assert "Traceback" not in second.stdout + second.stderr
        server.send_signal(signal.SIGKILL)
        server.wait()
        with start_server("app.py", tmp_path):
            pass


def test_limits_and_the_scheduler_are_told() -> None:
    (line,) = start_lines(Limits(steps=77), {}, "127.0.0.1")
    assert "Profile own" in line
    assert " steps=77 " in line
    *_, line = start_lines(Limits(), {}, "localhost", "tls://scheduler:8786")
    assert "tls://scheduler:8786" in line


@pytest.mark.parametrize("address", [None, "0.0.0.0", "::", "lab.example.org"])
def test_a_server_open_to_others_without_a_profile_says_so_in_one_line(address: str | None) -> None:
    first, line = start_lines(Limits(), {}, address)
    assert f"{PROFILE}=public" in line
    assert list(start_lines(Limits(), {PROFILE: "own"}, address)) == [first]
    for local in ("127.0.0.1", "::1", "localhost"):
        assert list(start_lines(Limits(), {}, local)) == [first], "one's own computer"
