import json
import os
import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from typing_extensions import TypedDict  # up to Python 3.11 pydantic reads only this one

from engine import VERSION
from engine.foundation.code_hash import ENGINE, code_hash, installed_version
from engine.foundation.once import once

PROJECT = "attention-lab"
COMMIT_VARIABLE = "ATTENTION_LAB_COMMIT"  # names the commit where there is no checkout, as in an image
COMMIT_DIGITS = 8  # digits of a commit in names of files and in sentences


class Provenance(TypedDict, total=False):
    """The origin of numbers. Unknown entries are empty; numbers stored before there was provenance have none of it."""

    version: str
    commit: str
    """The whole hash; it ends in ``-dirty`` if a Python file had been changed since: evidence that is written changes
    none."""
    code: str
    torch: str
    processor: str
    date: str  # in UTC: year-month-day


def provenance() -> Provenance:
    return {
        "version": VERSION, "commit": commit(), "code": code_hash(), "torch": installed_version("torch"), "processor": cpu_name(),
        "date": today(),
    }  # fmt: skip


def in_words(origin: Provenance) -> str:
    named = (
        ("Attention Lab ", "version"), ("commit ", "commit"), ("code ", "code"), ("torch ", "torch"), ("", "processor"), ("", "date"),
    )  # fmt: skip
    return ", ".join(f"{label}{value}" for label, name in named if (value := origin.get(name)))


def stamp() -> str:
    return "-".join(filter(None, (f"v{VERSION}", short_commit(), today())))


def stamped(name: str) -> str:
    """``heads.csv`` becomes ``heads-v0.2.0-0123abcd-2026-11-26.csv``."""
    path = Path(name)
    return f"{path.stem}-{stamp()}{path.suffix}"


def short_commit() -> str:
    return commit().partition("-")[0][:COMMIT_DIGITS]


def today() -> str:
    return datetime.now(UTC).date().isoformat()


@once
def commit(folder: Path = ENGINE.parent) -> str:
    """The commit of the program in a folder: of git's checkout, else named in :data:`COMMIT_VARIABLE`, else noted at
    its installation; empty if none is known."""
    if not (folder / ".git").exists():  # git would also find a checkout above, of something else
        return os.environ.get(COMMIT_VARIABLE) or _installed_commit() if folder == ENGINE.parent else ""
    head = _git(folder, "rev-parse", "HEAD")
    if head is None or head.returncode:
        return ""
    changed = _git(folder, "diff", "--quiet", "HEAD", "--", "*.py")
    return head.stdout.strip() + ("-dirty" if changed is not None and changed.returncode == 1 else "")


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, env=environment
        )
    return None  # there is no git, or it hangs


def _installed_commit() -> str:
    """The commit that pip noted (PEP 610) when it installed the program from a repository."""
    try:
        recorded = distribution(PROJECT).read_text("direct_url.json")
        return str(json.loads(recorded or "{}").get("vcs_info", {}).get("commit_id", ""))
    except (PackageNotFoundError, ValueError, AttributeError):
        return ""


@once
def cpu_name(file: Path = Path("/proc/cpuinfo")) -> str:
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next((name for name in named if name), platform.processor() or platform.machine() or "CPU")
