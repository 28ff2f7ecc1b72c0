"""The command line in a terminal and in a pipe: Ctrl-C, readers that leave, narrow tables, the version."""

import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from rich.console import Console

from engine.cli import main
from engine.cli.terminal import table
from engine.encodings import ENCODINGS
from tests.engine.cli.test_cli import Patch, Printed, printed


def begun(*arguments: str) -> subprocess.Popen[str]:
    """The command line in a process. Whoever runs the tests in the background hands down a SIGINT that is ignored."""
    return subprocess.Popen(
        [sys.executable, "-m", "engine", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def test_ctrl_c_ends_cleanly_and_a_person_is_told_how_to_go_on(tmp_path: Path) -> None:
    process = begun("train", "--steps", "1000000", "--save", str(tmp_path / "run"))
    events = tmp_path / "run" / "events.jsonl"
    while not (events.exists() and "progress" in events.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, err) == (130, "")
    assert f"train --resume {tmp_path / 'run'} continues." in out
    assert (tmp_path / "run" / "weights.safetensors").exists()


def test_ctrl_c_while_the_program_is_loaded_leaves_no_traceback() -> None:
    processes = [begun("train", "--steps", "1000000") for _ in range(3)]
    for process in processes:
        time.sleep(0.4)  # moments of starting, whichever they are on this machine
        process.send_signal(signal.SIGINT)
    for process in processes:
        _, err = process.communicate()
        assert "Traceback" not in err
        assert process.returncode in (-signal.SIGINT, 130)


def test_a_reader_that_leaves_is_no_error() -> None:
    process = begun("encodings", "--evidence", "--json")  # more than a pipe holds
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert (process.stderr.read(), process.wait()) == ("", 0)


def test_what_is_piped_is_whole_and_on_a_narrow_terminal_every_digit_is_there(
    capsys: Printed, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = printed(capsys, "encodings")
    assert all(row.source in shown for row in ENCODINGS.values())
    narrow = Console(width=40)
    with narrow.capture() as said:
        narrow.print(table(None, ("model", "parameters"), [("a long name of a model", "70,553,706,496")] * 2))
    cells = [line.split("│")[1:-1] for line in said.get().splitlines() if "│" in line]
    assert "".join(cell[1].strip() for cell in cells).count("70,553,706,496") == 2
    assert "…" not in said.get()


def test_the_version_is_that_of_the_project(capsys: Printed) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert (left.value.code, capsys.readouterr().out) == (0, f"Attention Lab {project['version']}\n")
