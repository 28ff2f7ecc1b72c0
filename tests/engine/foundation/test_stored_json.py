"""Anything wrong with a stored JSON file is a ValueError, for each reader of stored files."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.experiments.evidence import store as evidence
from engine.experiments.sweeps import store as sweeps
from engine.foundation.stored_json import hash_of, read_json
from engine.runs.request import RunRequest
from engine.runs.saved_request import read_request
from engine.runs.store import Runs
from tests.engine.fake_training import config, train

DEEP = {
    "lists": "[" * 100_000 + "]" * 100_000,
    "objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "not too deep for Python": "[" * 500 + "]" * 500,
}


@pytest.mark.parametrize("text", [*DEEP.values(), "", "{", "\xff\xfe", '"\\ud800"'], ids=range(7))
def test_what_is_no_json_or_too_deep_is_a_value_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError):  # noqa: PT011 no message is meant for anybody
        read_json(tmp_path / "file")


def test_the_hash_of_a_value_is_that_of_its_sorted_json() -> None:
    expected = hashlib.sha256(b'[{"a": [1], "b": null}]').hexdigest()
    assert hash_of([{"b": None, "a": (1,)}], 12) == expected[:12] == hash_of([{"a": [1], "b": None}], 12)
    assert hash_of([{"b": None, "a": [2]}], 64) != expected


def test_what_the_program_writes_comes_back(tmp_path: Path) -> None:
    value = {"a": [1, 2.5, None, True, {"ä": "\u2028"}], "b": {}, "c": []}
    (tmp_path / "file").write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    assert read_json(tmp_path / "file") == value
    with pytest.raises(OSError, match="nothing"):
        read_json(tmp_path / "nothing")


@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
def test_no_reader_of_a_run_raises_anything_else(tmp_path: Path, deep: str) -> None:
    runs = Runs(tmp_path / "runs")
    for name in ("config.json", "request.json", "events.jsonl"):
        run = runs.create(config(5))
        run.append(list(train(run.config))[:4])
        (run.folder / name).write_text(deep)
        assert read_request(run) == RunRequest(run.config, paused=True)
        again = Runs(runs.folder)
        assert again.going() == []
        assert (again.get(run.id) is None) == (name == "config.json")
        assert again.recent() is not None


READERS: dict[str, tuple[Callable[[], Path], Callable[[], object]]] = {
    "evidence": (
        lambda: evidence.folder_of(evidence.DESIGNS) / f"{'0' * 12}.json",
        lambda: evidence.find_comparison("0" * 12),
    ),
    "sweep": (lambda: sweeps.folder() / "a-sweep-of-mine.json", lambda: sweeps.find("a-sweep-of-mine")),
}


@pytest.mark.usefixtures("own_data_folder")
@pytest.mark.parametrize("reader", READERS)
def test_no_reader_of_what_was_measured_raises(reader: str) -> None:
    file, read = READERS[reader]
    for deep in DEEP.values():
        file().parent.mkdir(parents=True, exist_ok=True)
        file().write_text(deep)
        assert read() is None


def test_the_config_is_a_value_error_where_its_values_are_deep(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    run = runs.create(RunConfig())
    row = json.loads((run.folder / "config.json").read_text())
    row["config"]["seed"] = json.loads("[" * 190 + "]" * 190)
    (run.folder / "config.json").write_text(json.dumps(row))
    Runs(tmp_path).get(run.id)
