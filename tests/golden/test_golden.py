"""The golden record holds: the same runs, evidence, links and stored runs as before the engine was rearranged.

Bit for bit where torch and the processor are those of the record; elsewhere to within rounding.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.config.run_config import RunConfig
from engine.model.build import trained_model
from engine.runs.events import ARRAYS, Snapshot, to_json
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.tasks import TASKS
from pages.parts.boards.recorded import FOLDERS, RECORDED, recorded_run
from tests.golden.record import FILE, config_of, evidence, machine, run_of

RECORD: dict[str, Any] = json.loads(FILE.read_text())
SAME_MACHINE = RECORD["machine"] == machine()
CLOSE = {"rel": 2e-2, "abs": 2e-2}  # twelve steps amplify the rounding of other kernels


@pytest.mark.parametrize("name", RECORD["runs"])
def test_a_run_gives_the_recorded_events(name: str) -> None:
    before = RECORD["runs"][name]
    now = run_of(before["settings"])
    for fact in ("kinds", "parameters", "saved", *(("losses", "metrics", "fingerprint") if SAME_MACHINE else ())):
        assert now[fact] == before[fact], fact
    if not SAME_MACHINE:
        assert now["losses"] == pytest.approx(before["losses"], **CLOSE)
        assert now["metrics"].keys() == before["metrics"].keys()


def test_an_issue_gives_the_recorded_evidence() -> None:
    for trial, before in zip(evidence(), RECORD["evidence"], strict=True):
        for fact in ("arm", "seed", "outcome"):
            assert trial[fact] == before[fact]
        assert trial["numbers"].keys() == before["numbers"].keys()
        if SAME_MACHINE:
            assert trial["numbers"] == before["numbers"]


def test_links_mean_what_they_meant_and_settings_newer_than_the_record_stand_at_their_defaults() -> None:
    assert len(RECORD["links"]) >= 99
    defaults = RunConfig().model_dump(mode="json")
    for link, before in RECORD["links"].items():
        config = defaults | before["config"]
        config["task_settings"] = TASKS[config["task"]].settings().model_dump(mode="json") | config["task_settings"]
        assert config_of(link) == {**before, "config": config}, link


# a run folder from then, left by python -m engine train --task reverse --steps 8 --d-model 8 --seq-len 4 --vocab-size 3
# --warmup-steps 0 --device cpu --save before_rearrange; it still opens, with every number that it holds
STORED = Path(__file__).parent / "stored_run" / "before_rearrange"


@pytest.mark.parametrize("folder", [STORED, FOLDERS[RECORDED]], ids=["stored", "recorded"])
def test_config_events_and_arrays_are_those_that_were_written(folder: Path) -> None:
    run = Run.from_disk(RunFolder(folder))
    written = json.loads((folder / "config.json").read_text())["config"]
    now = json.loads(json.dumps(run.config.flat()))
    assert {name: now[name] for name in written} == written
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert len(run.events) == len(lines)
    for line, event in zip(lines, run.events, strict=True):
        now = to_json(event)
        assert {name: now[name] for name in line} == line
    snapshots = [event for event in run.events if isinstance(event, Snapshot)]
    assert snapshots
    for event in snapshots:
        found = {f"{group}/{name}": array for group in ARRAYS for name, array in getattr(event, group).items()}
        file, begin = folder / "snapshots" / f"{event.step}.npz", ""
        if folder == FOLDERS[RECORDED]:  # has the arrays of all snapshots in one file
            file, begin = folder / "snapshots.npz", f"{event.step}/"
        with np.load(file, allow_pickle=False) as stored:
            assert {begin + name for name in found} == {name for name in stored.files if name.startswith(begin)}
            for name, array in found.items():
                np.testing.assert_array_equal(array, stored[begin + name])


def test_the_store_finds_it_and_its_weights_predict_what_they_predicted() -> None:
    run = Runs(STORED.parent).get(STORED.name)
    assert (run.state, run.step, run.weights) == ("finished", 8, STORED / "weights.safetensors")
    assert run.ending.metrics == {
        "loss": 1.1073085069656372, "second_half_accuracy": 0.3310546875, "first_half_accuracy": 0.33203125,
        "written_accuracy": 0.33984375,
    }  # fmt: skip
    model = trained_model(run.config, run.weights)
    for sample in run.snapshot.samples:
        read = torch.tensor([[int(token) for token in sample.tokens]])
        predicted = model(read).argmax(-1)[0].tolist()
        positions = [position for position, target in enumerate(sample.targets) if target]
        assert [str(predicted[position]) for position in positions] == [
            sample.predictions[position] for position in positions
        ]


def test_the_start_page_plays_the_recorded_run_to_its_end() -> None:
    run = recorded_run()
    assert (run.state, run.step) == ("finished", run.config.steps)
