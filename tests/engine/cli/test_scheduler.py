"""``--scheduler``: what cannot work is one line, and a run on a cluster prints and leaves what one on this machine does."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.cli import cluster, main
from engine.serving.cluster import SCHEDULER_VARIABLE
from tests.clustering import loopback_cluster
from tests.engine.cli.test_cli import Patch, Printed, lines
from tests.engine.cli.test_terminal import begun

OF_THE_MACHINE = {"tokens_per_second", "steps_per_second", "seconds", "memory"}
"""The facts that differ from one training to the next."""
TRAIN = ["train", "--steps", "12", "--test-lengths", "6,9", "--json"]


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler on loopback with one worker."""
    with loopback_cluster(tmp_path_factory.mktemp("cluster"), tls=False) as cluster:
        yield cluster.address


def same_anywhere(text: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in OF_THE_MACHINE} for row in lines(text)]


@pytest.mark.parametrize("command", [["train"], ["issue", "missing-mask"]])
def test_an_address_without_protection_is_refused(command: list[str], capsys: Printed, monkeypatch: Patch) -> None:
    monkeypatch.setenv(SCHEDULER_VARIABLE, "tcp://10.0.0.7:8786")
    for given in (["--scheduler", "tcp://10.0.0.8:8786"], []):
        assert main([*command, *given]) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert ("10.0.0.8" if given else "10.0.0.7") in told
        assert "tls://host:port" in told


ADDRESS = "tls://scheduler:8786"
NONE = {"address": ADDRESS, "problem": "", "connecting": False, "refused": {}, "machines": ()}
"""A cluster without workers that take runs."""


@pytest.mark.parametrize(
    ("without", "sentence"),
    [
        ({"connecting": True}, "The cluster at tls://scheduler:8786 could not be reached within 0 s."),
        ({"problem": "It is gone."}, "could not be reached"),
        ({}, "has no worker that takes runs"),
        ({"refused": {"tls://a:1": "tls://a:1 has another version."}}, "tls://a:1 has another version."),
    ],
)
def test_a_cluster_without_workers_is_one_line_that_says_why(
    without: dict[str, object], sentence: str, capsys: Printed, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(cluster, "JOIN_SECONDS", 0.0)
    found = SimpleNamespace(start=lambda changed: None, close=lambda: None, **{**NONE, **without})
    monkeypatch.setattr(cluster, "cluster_at", lambda address: found)
    assert main(["train", "--scheduler", ADDRESS]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert sentence in told.err


@pytest.mark.acceptance
def test_a_run_on_a_cluster_prints_and_leaves_the_same(scheduler: str, tmp_path: Path, capsys: Printed) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    assert main([*TRAIN, "--save", str(here)]) == 0
    printed = capsys.readouterr().out
    assert main([*TRAIN, "--save", str(there), "--scheduler", scheduler]) == 0
    assert same_anywhere(capsys.readouterr().out) == same_anywhere(printed)
    assert same_anywhere((there / "events.jsonl").read_text()) == same_anywhere((here / "events.jsonl").read_text())
    assert (there / "weights.safetensors").read_bytes() == (here / "weights.safetensors").read_bytes()
    names = [sorted(file.name for file in folder.rglob("*")) for folder in (here, there)]
    assert names[0] == names[1]
    assert main([*TRAIN, "--save", str(there), "--scheduler", scheduler]) == 2, "the folder is there already"


@pytest.mark.acceptance
def test_ctrl_c_stops_the_run_there(scheduler: str) -> None:
    process = begun("train", "--steps", "1000000", "--json", "--scheduler", scheduler)
    assert process.stdout is not None
    while json.loads(process.stdout.readline())["event"] != "progress":
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (json.loads(out.splitlines()[-1])["state"], process.returncode) == ("stopped", 130)
    assert "Traceback" not in err
