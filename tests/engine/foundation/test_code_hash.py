"""Results are stored under the code that made them: all of the engine but those parts that cannot decide a number."""

import shutil
import subprocess
import sys
from pathlib import Path

from engine.foundation.code_hash import ENGINE, LEFT_OUT, code_hash

COUNT = (
    "tasks/text/encoded.py", "estimate/layout.py", "settings/architectures.py", "estimate/prediction.py", "experiments/trial.py",
    "training/train.py", "analysis/attention/model.py", "config/run_config.py", "tasks/text/shakespeare.zip",
)  # fmt: skip
DO_NOT_COUNT = (
    "cli/train.py",
    "serving/pool.py",
    "experiments/sweeps/sweep.py",
    "serving/processes/child.py",
    "foundation/glossary.toml",
)
TRAINED = """
import pkgutil, sys
from importlib import import_module
import engine.encodings, engine.analysis.measurements, engine.model, engine.tasks, engine.tasks.text, engine.training
from engine.config.run_config import RunConfig
from engine.experiments.trial import read_trial
from engine.training.train import train
read_trial("arm", 0, list(train(RunConfig(steps=2, batch_size=2))))
for package in (engine.encodings, engine.analysis.measurements, engine.model, engine.tasks, engine.tasks.text, engine.training):
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        import_module(found.name)
print(sorted(name for name in sys.modules if name.startswith("engine.")))
"""


def test_every_part_that_decides_a_number_counts_and_what_only_starts_carries_or_shows_does_not(tmp_path: Path) -> None:
    folder = shutil.copytree(ENGINE, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__", "recorded"))
    assert code_hash(folder) == code_hash(), "the same files, wherever they lie"
    seen = [code_hash()]

    def changed() -> bool:
        seen.append(code_hash.__wrapped__(folder))  # hashes are kept by folder
        return seen[-1] not in seen[:-1]

    for file in COUNT:
        with (folder / file).open("a") as source:
            source.write("# 1\n")
        assert changed(), file
    (folder / "tasks" / "text" / "new.py").touch()
    assert changed(), "a new file"
    (folder / "estimate" / "layout.py").rename(folder / "estimate" / "framed.py")
    assert changed(), "a new name"
    for file in DO_NOT_COUNT:
        with (folder / file).open("a") as source:
            source.write("# 1\n")
        assert not changed(), file


def test_what_trains_imports_nothing_that_is_left_out() -> None:
    found = subprocess.run([sys.executable, "-c", TRAINED], capture_output=True, text=True, check=True).stdout
    assert "'engine.training.train'" in found
    assert [name for name in LEFT_OUT if f"'engine.{name.replace('/', '.')}" in found] == []
