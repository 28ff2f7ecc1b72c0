"""The program for larger models trains both arms of a question, each at its best rate, and stores what a page reads."""

from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.scaled import SEEDS, read_scaled
from tests.engine.experiments.fake_issue import fake_issue
from tools import scaled


class _Threads:
    def Pool(self, processes: int) -> ThreadPool:
        return ThreadPool(processes)


def test_two_arms_are_trained_and_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    issue = fake_issue(base={"steps": 2, "learning_rate": 0.001, "d_model": 8})
    monkeypatch.setitem(ISSUES, "fake", issue)
    monkeypatch.setattr(scaled, "LARGER_MODELS", {"fake": {"d_model": 16, "n_heads": 2}})
    monkeypatch.setattr(scaled, "TIMES_STEPS", {"fake": 1})
    monkeypatch.setattr(scaled.multiprocessing, "get_context", lambda method: _Threads())
    trained = list[Any]()
    real = scaled.train
    monkeypatch.setattr(scaled, "train", lambda config, **more: (trained.append(config), real(config, **more))[1])
    scaled.main(["--write", str(tmp_path)])
    found = read_scaled(issue, tmp_path)
    assert found is not None
    assert (len(found.before), len(found.after), found.steps) == (len(SEEDS), len(SEEDS), 2)
    assert {config.d_model for config in trained} == {16}
    assert {config.seed for config in trained} == {scaled.PILOT_SEED, *SEEDS}
    count = len(trained)
    scaled.main(["--write", str(tmp_path)])
    assert len(trained) == count, "what is stored is not trained again"
