"""Results are stored under the code that made them: all of the engine except parts that cannot decide a number."""

import shutil
from pathlib import Path

import grimp

from engine.foundation.code_hash import ENGINE, EXCLUDED, code_hash

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
# the rooms of the engine with which a trial is trained and measured
TRAINS = ("encodings", "analysis.measurements", "model", "tasks", "training")


def test_every_part_that_decides_a_number_counts_and_what_only_starts_carries_or_shows_does_not(tmp_path: Path) -> None:
    folder = shutil.copytree(ENGINE, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__", "recorded"))
    assert code_hash(folder) == code_hash(), "the same files, wherever they lie"
    hashes = [code_hash()]

    def changed() -> bool:
        hashes.append(code_hash.__wrapped__(folder))  # hashes are kept by folder
        return hashes[-1] not in hashes[:-1]

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
    """Nor what scores a trial; an import within a function counts, too."""
    graph = grimp.build_graph("engine", cache_dir=None)
    imported = graph.find_upstream_modules("engine.experiments.trial")
    for room in TRAINS:
        imported |= graph.find_upstream_modules(f"engine.{room}", as_package=True)
    assert "engine.settings.base" in imported
    left_out = tuple(f"engine.{name.replace('/', '.')}" for name in EXCLUDED)
    assert [module for module in imported if module.startswith(left_out)] == []
