import asyncio
from pathlib import Path

import pytest

from tools.load.__main__ import main
from tools.load.chaos import PLAN, chaos


@pytest.mark.thorough
@pytest.mark.parametrize(
    "given",
    ["issue --sessions 1", "mixed --sessions 6 --minutes .2", "attack --sessions 1 --steps 50 --attacks 200:streams"],
)
def test_a_small_scenario_has_its_figures(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tools.load.scenarios.EVERY", 1.0)
    monkeypatch.setattr("tools.load.scenarios.ISSUES", ("missing-mask&seeds=1", "heads&seeds=1"))
    main([word.replace(":", " ") for word in given.split()])
    table = capsys.readouterr().out.rpartition("Round ")[2].partition("\n\n| |")[2]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    figures = {name: values for name, *values in rows}
    for name in ("interactions without an answer", "controls that were not there", "elements with an exception"):
        assert set(figures[name]) == {"0"}, figures
    assert all(float(value) > 0 for value in (*figures["interactions"], *figures["workers (MiB)"]))
    assert set(figures.get("runs without an end", ["0"])) == {"0"}


@pytest.mark.acceptance
def test_a_minute_of_sudden_ends_loses_no_run(tmp_path: Path) -> None:
    report = asyncio.run(chaos(tmp_path, 1.0, 3))
    [of_visitors] = (line for line in report if line.startswith("Runs of visitors"))
    assert report[0].count("1 x ") == len(PLAN)
    assert " 0:" not in of_visitors
    assert "lost" not in of_visitors
    for line in (
        "Runs that a page showed and that no folder holds: 0.",
        "Runs with a step that is missing or there twice: 0.",
    ):
        assert line in report
    assert any(line.endswith("Tracebacks in the log: 0.") for line in report)
