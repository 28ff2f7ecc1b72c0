"""A run as data frames: the columns and values that its CSV has."""

from __future__ import annotations

from pathlib import Path

from engine.config.run_config import RunConfig
from engine.runs.events import Ended, Finished, Progress
from engine.runs.frames import RUN_COLUMNS, lengths_frame, runs_frame, steps_frame
from engine.runs.store import Runs
from engine.settings.costs import Memory

EVENTS = [
    Progress(1, 2.5, 0.1, 1e-05, 100.0, {"accuracy": 0.25}, {"loss": 2.25, "accuracy": 1 / 3}),
    Progress(2, 2.0, 1e20, 0.001, 100.0, {"accuracy": 0.5}),
]


def test_a_row_for_each_step_with_every_digit() -> None:
    assert steps_frame(EVENTS).to_csv(index=False, lineterminator="\n") == (
        "step,loss,gradient norm,learning rate,training accuracy,validation loss,validation accuracy\n"
        "1,2.5,0.1,1e-05,0.25,2.25,0.3333333333333333\n"
        "2,2.0,1e+20,0.001,0.5,,\n"
    )
    assert steps_frame([]).empty


def test_a_row_for_each_test_length_without_its_note() -> None:
    rows = [{"length": 8, "trained": True, "loss": 0.5}, {"length": 16, "trained": False, "note": "A table ends at 8."}]
    frame = lengths_frame(Finished(2, {}, rows, Memory(1, 1, 1, 1, 1), 1.0))
    assert list(frame) == ["length", "trained", "loss"]
    assert frame["loss"].isna().tolist() == [False, True]


def test_a_row_for_each_run_with_its_last_held_out_accuracy(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    config = RunConfig(task="own_position", family="encoder", pos_encoding="rope", n_layers=2, steps=2)
    finished, stopped, queued = (runs.create(config) for _ in range(3))
    finished.append([*EVENTS, Finished(2, {"loss": 0.1, "accuracy": 0.75}, [], Memory(1, 1, 1, 1, 1), 1.0)])
    stopped.append([*EVENTS, Ended(2, "stopped", "Somebody stopped it.")])
    again = [Runs(tmp_path).get(run.id) for run in (finished, stopped)]  # as they are stored
    frame = runs_frame([*filter(None, again), queued])
    assert list(frame["run"]) == [finished.id, stopped.id, queued.id]
    assert set(zip(frame["task"], frame["encoding"], frame["depth"], strict=True)) == {("own_position", "rope", 2)}
    assert list(frame["outcome"]) == ["finished", "stopped", "queued"]
    assert list(frame["steps"]) == [2, 2, 0]
    assert list(frame["accuracy"])[:2] == [0.75, 1 / 3]
    assert frame["accuracy"].isna().tolist() == [False, False, True]
    assert frame["created"][0].timestamp() == round(finished.created, 6)
    assert list(runs_frame([])) == RUN_COLUMNS
