from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.rates import read_grids
from engine.serving.pool import Pool
from tests.engine.experiments.fake_issue import fake_issue
from tests.engine.serving.test_pool import FAKE, some
from tools import rates


@pytest.mark.usefixtures("own_data_folder")
def test_the_learning_rates_of_an_issue_are_measured_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(ISSUES, "fake", fake_issue(base={"steps": 9, "learning_rate": 0.001}))
    monkeypatch.setattr("engine.cli.cluster.Pool", partial(Pool, training=FAKE, predict=some))
    rates.main(["fake", "--write", str(tmp_path)])
    assert [grid.arm for grid in read_grids("fake", tmp_path)] == ["short", "long"]
    assert "best rate" in capsys.readouterr().out


@pytest.mark.usefixtures("own_data_folder")
def test_on_request_only_the_rates_of_arms_that_have_none_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    issue = fake_issue(base={"steps": 9, "learning_rate": 0.001})
    monkeypatch.setattr("engine.cli.cluster.Pool", partial(Pool, training=FAKE, predict=some))
    monkeypatch.setitem(ISSUES, "fake", replace(issue, arms=issue.arms[1:2], claims=()))
    rates.main(["fake", "--write", str(tmp_path)])
    before = read_grids("fake", tmp_path)
    monkeypatch.setitem(ISSUES, "fake", issue)
    capsys.readouterr()
    rates.main(["fake", "--only-new", "--write", str(tmp_path)])
    found = read_grids("fake", tmp_path)
    assert [grid.arm for grid in found] == ["short", "long"], "in the issue's order"
    assert found[1:] == before
    printed = capsys.readouterr().out
    assert "short" in printed
    assert "long" not in printed
