"""What is kept on disk is kept under the code that made it: all of the engine but what cannot decide a number."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.analysis.attention import asked
from engine.analysis.attention.asked import ModelAsked
from engine.config.run_config import RunConfig
from engine.foundation.code_hash import ENGINE, LEFT_OUT, code_hash

TRAINED = """
import pkgutil, sys
from importlib import import_module
import engine.encodings, engine.analysis.measurements, engine.model, engine.tasks, engine.text, engine.training
from engine.config.run_config import RunConfig
from engine.experiments.trial import read_trial
from engine.training.train import train
read_trial("arm", 0, list(train(RunConfig(steps=2, batch_size=2))))
for package in (engine.encodings, engine.analysis.measurements, engine.model, engine.tasks, engine.text, engine.training):
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        import_module(found.name)
print(sorted({name.split(".")[1] for name in sys.modules if name.startswith("engine.")}))
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copied") / "engine"
    return shutil.copytree(ENGINE, folder, ignore=shutil.ignore_patterns("__pycache__", "recorded"))


def changed(folder: Path, file: str) -> str:
    """The hash after one more line in a file of the copy; a folder of its own, for hashes are kept by folder."""
    other = shutil.copytree(folder, folder.parent / file.replace("/", "-"))
    with (other / file).open("a") as source:
        source.write("# 1\n")
    return code_hash(other)


@pytest.mark.parametrize(
    "file",
    [
        "text/encoded.py",
        "estimate/layout.py",
        "architectures/__init__.py",
        "estimate/prediction.py",
        "experiments/trial.py",
        "training/train.py",
        "analysis/attention/model.py",
        "config/run_config.py",
    ],
)
def test_every_part_that_decides_a_number_counts(copied: Path, file: str) -> None:
    assert code_hash(copied) == code_hash(), "the same files, wherever they lie"
    assert changed(copied, file) != code_hash()


@pytest.mark.parametrize(
    "file", ["cli/train.py", "workers/pool.py", "notebooks/player.py", "sweeps/sweep.py", "foundation/glossary.toml"]
)
def test_what_only_starts_carries_or_shows_does_not_count(copied: Path, file: str) -> None:
    assert changed(copied, file) == code_hash()


def test_a_new_file_and_a_new_name_count(copied: Path) -> None:
    new = shutil.copytree(copied, copied.parent / "new")
    (new / "text" / "new.py").touch()
    renamed = shutil.copytree(copied, copied.parent / "renamed")
    (renamed / "estimate" / "layout.py").rename(renamed / "estimate" / "framed.py")
    assert len({code_hash(), code_hash(new), code_hash(renamed)}) == 3


def test_what_trains_imports_nothing_that_is_left_out() -> None:
    found = subprocess.run([sys.executable, "-c", TRAINED], capture_output=True, text=True, check=True).stdout
    assert "'training'" in found
    assert [name for name in LEFT_OUT if f"'{name}'" in found] == []


def test_weights_are_trained_again_after_the_code_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = asked.file_of(ModelAsked(RunConfig()))
    monkeypatch.setattr(asked, "code_hash", lambda: "other")
    assert asked.file_of(ModelAsked(RunConfig())) != before
