import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.cli import main
from engine.runs.folder import RunFolder
from tests.engine.cli.test_cli import Patch, Printed

CLOCK = {"tokens_per_second", "seconds", "steps_per_second"}
STEPS = 40
SMALL = ["train", "--steps", str(STEPS), "--d-model", "16", "--n-layers", "2", "--json"]


@pytest.fixture(autouse=True)
def _hears_ctrl_c() -> Iterator[None]:
    """Also if the tests run in the background of a shell, which lets its commands ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_at(monkeypatch: Patch, *steps: int, number: int = signal.SIGINT) -> list[dict[str, Any]]:
    """Send the signal when an event of the first of these steps, or of a later step, is printed; then at the second, and so on. Return
    the printed rows."""
    remaining, printed = list(steps), list[dict[str, Any]]()

    def show(row: dict[str, Any]) -> None:
        printed.append(row)
        if remaining and row.get("step", 0) >= remaining[0]:
            remaining.pop(0)
            signal.raise_signal(number)

    monkeypatch.setattr("engine.cli.train.print_json", show)
    return printed


def events_in(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name not in CLOCK} for row in rows]


@pytest.mark.parametrize(
    "settings",
    [
        ["--dropout", "0.1", "--test-lengths", "4,9", "--pretrain-steps", "20", "--optimizer", "muon"],
        ["--task", "shakespeare_words", "--vocab-size", "50", "--position-dropout", "0.1"],
    ],
)
def test_it_gives_the_events_and_the_weights_of_a_run_that_was_not_interrupted(
    settings: list[str], tmp_path: Path, monkeypatch: Patch
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main([*SMALL, *settings, "--save", str(whole)]) == 0
    interrupt_at(monkeypatch, 0, 17, 18, STEPS)
    assert main([*SMALL, *settings, "--save", str(parts)]) == 130
    for _ in range(3):
        assert main(["train", "--resume", str(parts), "--json"]) == 130
        assert (parts / "state.pt").exists()
        assert (parts / "weights.safetensors").exists()
    assert main(["train", "--resume", str(parts), "--json"]) == 0
    assert events_in(parts) == events_in(whole)
    assert (parts / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()
    names = {file.name for file in (whole / "snapshots").iterdir()}
    assert {file.name for file in (parts / "snapshots").iterdir()} == names
    for name in names:
        with np.load(whole / "snapshots" / name) as expected, np.load(parts / "snapshots" / name) as found:
            assert expected.files == found.files
            for array in expected.files:
                np.testing.assert_array_equal(found[array], expected[array])
    assert not (parts / "state.pt").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_an_interrupted_run_keeps_writes_on(
    number: int, tmp_path: Path, monkeypatch: Patch, capsys: Printed
) -> None:
    before = signal.getsignal(number)
    printed = interrupt_at(monkeypatch, 5, number=number)
    folder = str(tmp_path / "run")
    assert main([*SMALL, "--task", "shakespeare_words", "--vocab-size", "50", "--save", folder]) == 130
    assert printed[-1]["state"] == "stopped"
    assert signal.getsignal(number) is before
    assert main(["sample", folder, "--prompt", "the king", "--length", "3"]) == 0
    assert capsys.readouterr().out.startswith("the king")


def test_an_event_that_is_there_already_is_not_written_again(tmp_path: Path, monkeypatch: Patch) -> None:
    """A state is of an earlier step than the last event if the run that continued with it was killed."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main([*SMALL, "--save", str(whole)]) == 0
    interrupt_at(monkeypatch, 12)
    assert main([*SMALL, "--save", str(parts)]) == 130
    lines = (whole / "events.jsonl").read_text().splitlines(keepends=True)
    (parts / "events.jsonl").write_text("".join(lines[:30]))
    assert main(["train", "--resume", str(parts), "--json"]) == 0
    assert events_in(parts) == events_in(whole)


def test_a_run_that_cannot_begin_leaves_no_folder(tmp_path: Path, capsys: Printed) -> None:
    file, folder = tmp_path / "blanks.txt", tmp_path / "run"
    file.write_text(" " * 2000)
    given = ["train", "--task", "shakespeare_words", "--text-file", str(file), "--save", str(folder)]
    for _ in range(2):
        assert main(given) == 2
        assert "has no window" in capsys.readouterr().err
        assert not folder.exists()


def test_a_folder_that_holds_no_interrupted_run_is_refused(tmp_path: Path, capsys: Printed, monkeypatch: Patch) -> None:
    def refused(*given: str) -> str:
        assert main(["train", "--resume", *given]) == 2
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        return message

    assert "it must be a folder that train --save wrote" in refused(str(tmp_path))
    done = tmp_path / "done"
    assert main([*SMALL, "--steps", "2", "--save", str(done)]) == 0
    assert "a run that has ended" in refused(str(done))
    interrupt_at(monkeypatch, 3)
    stopped = tmp_path / "stopped"
    assert main([*SMALL, "--save", str(stopped)]) == 130
    assert "n_heads is 4, which has no meaning with --resume" in refused(str(stopped), "--n-heads", "4")
    assert "save is elsewhere, which has no meaning" in refused(str(stopped), "--save", "elsewhere")
    assert "scheduler is tls://h:1, which" in refused(str(stopped), "--scheduler", "tls://h:1")
    RunFolder(stopped).saved_request.write_text("{}")
    assert "is a run of the app" in refused(str(stopped))
    RunFolder(stopped).saved_request.unlink()
    (stopped / "state.pt").write_bytes(b"nothing")
    assert "cannot be read" in refused(str(stopped))
    (stopped / "state.pt").unlink()
    assert "no saved state" in refused(str(stopped))
