import re
import shutil
import sys
from itertools import islice
from pathlib import Path

import pytest

from engine.foundation.files import DATA_VARIABLE
from engine.foundation.log import LOG
from tools import depth, first_visit, gpu, peak, recording
from tools.server import ROOT


@pytest.mark.thorough
def test_the_tables_of_a_gpu_are_measured_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = tmp_path / "gpu.md"
    shutil.copy(ROOT / "docs" / "gpu.md", document)
    cases = dict(islice(gpu.cases().items(), 2))
    small = {"SIZES": ((gpu.Size(8, 4, 1, 2, 4), 12),), "REPEATS": 1, "LARGE_SIZES": 0, "LEAST_RECORDED": 12}
    for name, value in {**small, "cases": lambda: cases}.items():
        monkeypatch.setattr(gpu, name, value)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))  # the program sets another one
    level = LOG.level
    try:
        parts = gpu.main(["--device", "cpu", "--write", str(document)]).parts
    finally:
        LOG.setLevel(level)
    cells = {name: value for rows in parts.values() for row in rows.values() for name, value in row.items()}
    assert cells.pop("those") == ""
    assert (cells.pop("to look at"), cells.pop("cases")) == (0, 2)
    assert {"nanoGPT TF32", "ours", "ours, eager", "recorded / bare", "eight seeds (ms per step)"} <= set(cells)
    assert not [value for value in cells.values() if isinstance(value, str)], "each was measured"
    assert "| captured and eager | 2 | 0 |" in document.read_text("utf-8")


def test_a_draw_of_first_weights_is_timed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(depth, "DEPTHS", (1, 2))
    monkeypatch.setattr(depth, "DRAWS", 1)
    monkeypatch.setattr(depth, "set_num_threads", lambda _: None)
    depth.main([8])
    assert len(re.findall(r"^\| 8 \| .+ \| \d+\.\d\d \| \d+\.\d\d \|$", capsys.readouterr().out, re.MULTILINE)) == 3


def test_the_cost_of_recording_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "")  # the program sets another one
    monkeypatch.setattr(recording, "PAIRS", 1)
    monkeypatch.setattr(recording, "CASES", {"small": {"steps": 20}})
    recording.main([])
    assert re.search(r"^\| small \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$", capsys.readouterr().out, re.MULTILINE)


def test_another_commit_is_asked_by_the_name_that_its_program_has(tmp_path: Path) -> None:
    assert (recording.program_of(ROOT), recording.program_of(tmp_path)) == (
        "tools.recording",
        "tests.benchmarks.recording",
    )


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the resident memory is read from /proc")
def test_the_peak_of_a_real_process_stands_beside_its_forecast(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peak, "CHANGES", ("batch_size=64",))
    peak.main()
    *_, row = capsys.readouterr().out.splitlines()
    name, formula, predicted, real, _ = row.strip("| ").split(" | ")
    assert (name, formula) == ("batch_size=64", "yes")
    assert 0 < float(real) <= float(predicted)


@pytest.mark.browser
@pytest.mark.thorough
def test_a_first_visit_is_timed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(first_visit, "VISITS", 1)
    monkeypatch.setattr(first_visit, "MEGABITS", 1000)
    first_visit.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Start", "Lab", "a plain page"]
    assert all(re.search(r"MB \d+\.\d$", line) for line in lines)
