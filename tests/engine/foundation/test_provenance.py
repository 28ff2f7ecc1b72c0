import json
import os
import re
import subprocess
import sys
from functools import partial
from importlib.metadata import Distribution, version
from pathlib import Path

import pytest

from engine import VERSION
from engine.foundation import provenance as module
from engine.foundation.code_hash import code_hash
from engine.foundation.provenance import commit, cpu_name, in_words, provenance, stamped, today
from engine.serving.processes.child import child_environment
from tests.engine.at_once import at_once
from tests.serving import ROOT


def git(folder: Path, *arguments: str) -> str:
    name = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    done = subprocess.run(["git", "-C", folder, *name, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_origin_is_that_of_this_process() -> None:
    found = provenance()
    assert (found["version"], found["code"], found["torch"]) == (VERSION, code_hash(), version("torch"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])
    assert found["processor"]
    if (ROOT / ".git").exists():
        assert found["commit"].removesuffix("-dirty") == git(ROOT, "rev-parse", "HEAD")


def test_a_changed_file_shows_and_the_commit_of_another_program_is_not_taken(tmp_path: Path) -> None:
    git(tmp_path, "init")
    for name in ("engine.py", "README.md"):
        (tmp_path / name).write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "First")
    first = git(tmp_path, "rev-parse", "HEAD")
    assert commit.__wrapped__(tmp_path) == first  # commits are kept by folder
    (tmp_path / "README.md").write_text("2\n")
    assert commit.__wrapped__(tmp_path) == first, "no number depends on it"
    (tmp_path / "engine.py").write_text("2\n")
    assert commit.__wrapped__(tmp_path) == f"{first}-dirty"
    (tmp_path / "site-packages").mkdir()
    assert commit(tmp_path / "site-packages") == ""


def test_for_thirty_who_press_train_at_once_the_origin_is_computed_once(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "engine.py").write_text("1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "First")
    processor = tmp_path / "cpuinfo"
    processor.write_text("flags: fpu\n" * 10_000 + "model name: Fast\n")
    for ask in (partial(commit, tmp_path), partial(code_hash, tmp_path), partial(cpu_name, processor)):
        first, *others = at_once(lambda _, ask=ask: ask())  # type: ignore[misc]
        assert first
        assert all(one is first for one in others), ask


def test_an_installed_program_has_the_commit_that_was_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "ENGINE", tmp_path / "engine")
    assert commit.__wrapped__(tmp_path) == "", "neither a checkout nor installed"
    direct_url = {"url": "https://example.org/lab.git", "vcs_info": {"vcs": "git", "commit_id": "0" * 40}}
    folder = tmp_path / "attention_lab.dist-info"
    folder.mkdir()
    (folder / "direct_url.json").write_text(json.dumps(direct_url))
    monkeypatch.setattr(module, "distribution", lambda name: Distribution.at(folder))
    assert commit.__wrapped__(tmp_path) == "0" * 40
    monkeypatch.setenv(module.COMMIT_VARIABLE, "1" * 40)
    assert commit.__wrapped__(tmp_path) == "1" * 40, "an image names its own"
    assert child_environment(os.environ)[module.COMMIT_VARIABLE] == "1" * 40, "a worker saves weights"


def test_the_words_leave_out_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_words({"version": "1.0", "commit": "", "date": "2026-01-02"}) == "Attention Lab 1.0, 2026-01-02"
    assert in_words({}) == ""
    monkeypatch.setattr(module, "commit", lambda: "")
    assert stamped("heads.csv") == f"heads-v{VERSION}-{today()}.csv"
    monkeypatch.setattr(module, "commit", lambda: "0123456789abcdef-dirty")
    assert stamped("heads.csv") == f"heads-v{VERSION}-01234567-{today()}.csv"


def test_the_processor_has_its_name_from_the_system(tmp_path: Path) -> None:
    listed = tmp_path / "cpuinfo"
    listed.write_text("processor : 0\nmodel name\t: A Processor (R) 3000\n")
    assert cpu_name(listed) == "A Processor (R) 3000"
    assert cpu_name(tmp_path / "none")


def test_torch_is_not_imported_for_its_version() -> None:
    code = (
        "import sys; from engine.foundation.provenance import provenance; provenance(); print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT).stdout == "False\n"
