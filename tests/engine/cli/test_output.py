"""The command line where output is not UTF-8, and where there is no folder for its data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine.cli import main
from engine.foundation.files import DATA_VARIABLE
from tests.serving import ROOT

RECORDED = Path(engine.__file__).parent / "runs" / "recorded" / "words"


PLAYED = r"""
import sys
from contextlib import suppress
from engine.cli import main
for arguments in (["issues"], ["train", "--help"], *([["sample", *sys.argv[1:], "--length", "3"]] if sys.argv[1:] else [])):
    print(end="\x1e")
    with suppress(SystemExit):
        assert main(arguments) == 0
"""


@pytest.mark.parametrize(
    ("letters", "sample"),
    [
        ({"PYTHONIOENCODING": "cp1252"}, []),
        ({"LC_ALL": "C", "PYTHONUTF8": "0"}, [str(RECORDED), "--prompt", "ויאמר"]),
    ],
    ids=["cp1252", "C"],
)
def test_what_a_terminal_cannot_show_is_a_replacement_sign(letters: dict[str, str], sample: list[str]) -> None:
    command = [sys.executable, "-c", PLAYED, *sample]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, env=os.environ | letters)
    assert (done.returncode, b"codec" in done.stderr) == (0, False), done.stderr
    _, *said = done.stdout.split(b"\x1e")
    begins = (b"Documented issues", b"usage: python -m engine train", *([b"?????"] if sample else []))
    assert [text.strip()[: len(one)] for text, one in zip(said, begins, strict=True)] == [*begins]
    assert all(b"?" in text for text in said)


def test_a_text_for_which_there_is_no_folder_is_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "file" / "data"))
    assert main(["train", "--task", "shakespeare_chars", "--text-file", str(ROOT / "README.md")]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"python -m engine train: The data folder {tmp_path / 'file' / 'data'} cannot be written (")
    assert told.endswith(f"; set {DATA_VARIABLE} to a folder that can be written.")
