import json
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.config.run_config import RunConfig
from engine.foundation import files
from engine.foundation.log import LOG
from engine.foundation.provenance import provenance
from engine.runs import folder as run_folder
from engine.runs.events import ARRAYS, Ended, Event, Failed, Progress, Sample, Snapshot, to_json
from engine.runs.retention import Retention
from engine.runs.run import RETRY_SECONDS, Run
from engine.runs.saved_request import delete_saved
from engine.runs.store import Runs
from tests.engine.fake_training import config, train
from tests.engine.full_disk import full


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def finish(run: Run) -> Run:
    run.append(list(train(run.config)))
    return run


def read_anew(runs: Runs, run: Run) -> Run:
    return Runs(runs.folder).get(run.id)


def test_a_run_comes_back_from_disk_as_it_was_without_settings_of_another_version(runs: Runs) -> None:
    settings = config(steps=5, pos_encoding="rope", n_heads=4, d_model=32, test_lengths=(8, 12))
    run = finish(runs.create(settings, "a session"))
    found = read_anew(runs, run)
    assert found is not run
    assert (found.config, found.owner, found.state, found.step) == (settings, "a session", "finished", 5)
    assert [to_json(e) for e in found.events] == [to_json(e) for e in run.events]
    assert (found.started, found.ending) == (run.started, run.ending)

    file = run.folder / "config.json"
    row = json.loads(file.read_text())
    row["config"]["setting_of_tomorrow"] = 1
    file.write_text(json.dumps(row))
    assert read_anew(runs, run).config == run.config

    assert found.provenance == provenance()
    for before in ({}, {"provenance": "nothing"}):
        file.write_text(json.dumps({name: value for name, value in row.items() if name != "provenance"} | before))
        assert read_anew(runs, run).provenance == {}, "a run of before the origin was noted, or a damaged one"


def test_snapshots_keep_their_arrays_on_disk_and_one_whose_file_is_gone_is_empty(runs: Runs) -> None:
    run, sample = runs.create(config()), Sample(["a", "ü"], ["", "b"], ["", "c"], ["d"])
    patterns = {"self": np.random.rand(1, 2, 3, 3), "cross": np.ones((1, 2, 3, 4))}
    more = {"self": np.random.rand(3, 1, 2, 3, 3)}
    facts: dict[str, Any] = {"samples": [sample], "prompt": "before", "written": "after", "more_patterns": more}
    snapshots = [Snapshot(step, patterns, {"matrix": step * np.eye(3)}, **facts) for step in (0, 7, 9)]
    for snapshot in snapshots:
        run.append([snapshot])
    for events in (run.events, read_anew(runs, run).events):
        for wrote, read in zip(snapshots, events[:3], strict=True):
            assert to_json(read) == to_json(wrote)
            for group in ARRAYS:
                there, written = getattr(read, group), getattr(wrote, group)
                assert {n: a.tolist() for n, a in there.items()} == {n: a.tolist() for n, a in written.items()}
    assert [snapshot.step for snapshot in run.events.of(Snapshot, 1)] == [7, 9]
    assert "patterns" not in (run.folder / "events.jsonl").read_text()
    assert run.snapshot.step == 9

    file = run.folder.joinpath("snapshots", "0.npz")
    whole = file.read_bytes()
    part = len(whole) // 4
    for damaged in (whole[:-9], b"", whole[:part] + bytes(part) + whole[2 * part :]):  # as a loss of power may leave it
        file.write_bytes(damaged)
        assert not read_anew(runs, run).events[0].patterns
    file.unlink()
    assert not read_anew(runs, run).events[0].patterns


def test_only_the_latest_snapshot_is_held_in_memory(runs: Runs) -> None:
    run = runs.create(config())

    def snapshot_at(step: int) -> Snapshot:
        run.append([Snapshot(step, {"self": np.ones((1, 1, 1, 1))}, {}, [])])
        run.folder.joinpath("snapshots", f"{step}.npz").unlink()
        return run.snapshot

    first = snapshot_at(0)
    assert list(first.patterns) == ["self"], "the latest is held"
    second = snapshot_at(3)
    assert not first.patterns, "an earlier one is in its file, if anywhere"
    assert list(second.patterns) == ["self"]
    run.append([Ended(3, "stopped")])
    assert not second.patterns, "nothing is held of a run that has ended"


def stored_in(folder: Path) -> tuple[list[int], int]:
    """The steps of the snapshots in a run's folder, and their size in bytes."""
    files = list(folder.glob("snapshots/*.npz"))
    return sorted(int(file.stem) for file in files), sum(file.stat().st_size for file in files)


def test_snapshots_are_thinned_but_first_and_last_stay(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their sizes are counted as they are written; those of an earlier process count, too."""
    snapshots = [Snapshot(step, {"self": np.random.rand(1, 1, 16, 16)}, {}, []) for step in range(30)]
    run, listed, list_files = runs.create(config()), list[object](), Path.glob

    def glob(folder: Path, pattern: str) -> Iterator[Path]:
        listed.append(folder)
        return list_files(folder, pattern)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "glob", glob)
        for snapshot in snapshots[:8]:
            run.append([snapshot])
    assert len(listed) == 1
    steps, size = stored_in(run.folder)
    assert steps == list(range(8))

    monkeypatch.setattr(run_folder, "LARGEST_SNAPSHOTS", size)
    run.files.write_events(snapshots[8:9])
    assert stored_in(run.folder)[0] == [0, 2, 4, 6, 8]
    for snapshot in snapshots[9:]:
        run.append([snapshot])
    steps, now = stored_in(run.folder)
    assert (steps[0], steps[-1]) == (0, 29)
    assert now <= size


def test_arrays_are_read_by_one_thread_at_a_time(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create(config())
    run.append([Snapshot(0, {"self": np.eye(2)}, {}, []), Ended(0, "stopped")])
    load, reading, most = np.load, list[object](), list[int]()

    def watched(*given: Any, **named: Any) -> Any:
        reading.append(given)
        time.sleep(0.01)  # long enough for another thread to come in
        most.append(len(reading))
        reading.pop()
        return load(*given, **named)

    monkeypatch.setattr(np, "load", watched)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: dict(run.events.of(Snapshot)[0].patterns.items()), range(8)))
    assert all(patterns["self"].tolist() == np.eye(2).tolist() for patterns in found)
    assert most == [1] * 8


def test_a_run_without_an_end_is_lost_with_what_it_wrote(runs: Runs) -> None:
    run = runs.create(config(steps=100))
    run.append(list(train(run.config))[:10])
    found = read_anew(runs, run)
    assert (found.state, len(found.events)) == ("lost", 11)
    assert found.events[-1] == Ended(8, "lost", "The app ended during this run. You see its data up to then.")
    assert runs.get(run.id) is run, "whoever still runs it is not disturbed"
    assert run.live
    with (run.folder / "events.jsonl").open("a") as file:
        file.write('{"event": "progress", "step": 9, "lo')
    again = read_anew(runs, run)
    assert again.step == 8, "a half-written line is left out"


def test_what_is_written_after_a_line_that_cannot_be_read_replaces_it(runs: Runs) -> None:
    run = runs.create(config(steps=100))
    events = list(train(run.config))
    run.append(events[:10])
    for damage in ('{"event": "progress", "step": 9, "lo', '{"event": "telepathy"}\n{"event": "progress"}\n'):
        with (run.folder / "events.jsonl").open("a") as file:
            file.write(damage)
        folder = run.files
        known = list(folder.read_events())
        folder.write_events(events[len(known) : len(known) + 2])
        folder.write_events(events[len(known) + 2 : len(known) + 3])
    written = list(run.files.read_events())
    assert [to_json(event) for event in written] == [to_json(event) for event in events[:16]]


def test_ids_are_not_guessable_and_only_they_reach_the_disk(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs.get("a" * 16) is None
    ids = {runs.create(config()).id for _ in range(20)}
    assert len(ids) == 20
    assert all(len(run_id) == 16 for run_id in ids)

    def reached(path: Path) -> None:
        raise AssertionError(path)

    monkeypatch.setattr("engine.runs.store.RunFolder", reached)
    for run_id in ("", "..", "../" + "a" * 13, "a" * 15, "a" * 17, "/etc/passwd12345", "a" * 16 + "\n"):
        assert runs.get(run_id) is None


def test_events_waiting_and_none_after_the_end(runs: Runs) -> None:
    run = runs.create(config(steps=200))
    events = list(train(run.config))
    assert not run.wait_for(1, timeout=0.01)

    def write() -> None:
        for start in range(0, len(events), 5):
            run.append(events[start : start + 5])

    writer = threading.Thread(target=write)
    read, heard = list[object](), list[int]()
    with run.watched(lambda: heard.append(len(run.events))):
        writer.start()
        while run.live or len(read) < len(run.events):
            run.wait_for(len(read) + 1, timeout=240)
            read += run.events[len(read) :]
        writer.join()
    assert heard == [min(start + 5, len(events)) for start in range(0, len(events), 5)], "once for each change"
    assert [type(e) for e in read] == [type(e) for e in events]
    assert [e.step for e in read if isinstance(e, Progress)] == list(range(1, 201))

    run.append([Ended(200, "lost")])
    run.append([], "running")
    assert len(heard) == -(-len(events) // 5), "who watches no longer hears no more"
    assert (run.state, len(run.events)) == ("finished", len(events))


def test_recent_runs_newest_first_and_by_session(runs: Runs) -> None:
    made = [finish(runs.create(config(steps=1), session)) for session in ("a", "b", "a")]
    again = Runs(runs.folder)
    assert [run.id for run in again.recent()] == [run.id for run in reversed(made)]
    assert [run.id for run in again.recent("a")] == [made[2].id, made[0].id]
    assert [run.id for run in again.recent("a", count=1)] == [made[2].id]
    assert again.recent("nobody") == []


def test_the_oldest_go_the_live_stay_and_so_do_folders_in_which_a_run_may_yet_be_written(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "STILL_SECONDS", 0.0)  # seconds between two looks
    live = runs.create(config())
    ended = [finish(runs.create(config(steps=1))) for _ in range(5)]
    refused, beginning = runs.folder / "refused", runs.folder / "beginning"
    for folder in (refused, beginning):
        folder.mkdir()
        (folder / "config.part").touch()
    for abandoned in (refused, ended[-1].folder):
        os.utime(abandoned, (0, 0))
    runs.prune(Retention(runs=2, bytes=2**30))
    assert [runs.get(run.id) is not None for run in [live, *ended]] == [True, False, False, False, True, True]
    runs.prune(Retention(runs=100, bytes=0))
    assert {path.name for path in runs.folder.iterdir()} == {live.id, "beginning"}


def test_half_written_files_of_a_run_go_once_they_are_abandoned(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = finish(runs.create(config(steps=1)))
    snapshots = run.folder / "snapshots"
    snapshots.mkdir(exist_ok=True)
    abandoned, written = {run.folder / "state.pt.1.part", snapshots / "1.npz.1.part"}, snapshots / "2.npz.2.part"
    for file in (*abandoned, written):
        file.touch()
    for file in abandoned:
        os.utime(file, (0, 0))
    allowed = Retention(runs=10, bytes=2**30)
    runs.prune(allowed)
    assert all(file.exists() for file in abandoned), "the clock alone does not tell: it may have been set"
    monkeypatch.setattr(files, "STILL_SECONDS", 0.0)
    runs.prune(allowed)
    assert set(run.folder.rglob("*.part")) == {written}


def test_what_is_saved_of_a_run_is_deleted_also_where_its_folder_is_gone(runs: Runs) -> None:
    """As a trial's folder may be, whose numbers were read as soon as it had ended."""
    here, removed = (finish(runs.create(config(steps=1))) for _ in range(2))
    saved = [here.folder / name for name in ("request.json", "state.pt", "state.pt.1.part")]
    for file in saved:
        file.touch()
    shutil.rmtree(removed.folder)
    for run in (here, removed):
        delete_saved(run)
    assert not any(file.exists() for file in saved)


def test_ended_runs_are_not_all_held_in_memory(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [finish(runs.create(config(steps=100))) for _ in range(4)]
    monkeypatch.setattr("engine.runs.store.MAX_BYTES_IN_MEMORY", 2 * made[0].nbytes)
    assert runs.get(made[-1].id) is made[-1]
    old = runs.get(made[0].id)
    assert old is not made[0]
    assert [to_json(e) for e in old.events] == [to_json(e) for e in made[0].events]


def test_what_a_full_disk_did_not_take_is_written_when_it_can(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create(config(steps=40))
    first, second, *middle, last = list(train(run.config))
    whole, now = run_folder.append_whole, time.monotonic()

    run.append([first])
    monkeypatch.setattr(run_folder, "append_whole", full)
    run.append([second])
    assert run.unsaved == "This run cannot be saved: No space left on device."
    assert [to_json(event) for event in read_anew(runs, run).events][:-1] == [to_json(first)]
    monkeypatch.setattr(run_folder, "append_whole", whole)
    run.append(middle[:1])
    assert run.unsaved, "it is not tried again at once"
    monkeypatch.setattr("time.monotonic", lambda: now + 2 * RETRY_SECONDS)
    run.append(middle[1:2])
    assert not run.unsaved
    assert [to_json(event) for event in read_anew(runs, run).events][:-1] == [to_json(event) for event in run.events]

    monkeypatch.setattr(run_folder, "append_whole", full)
    for event in middle[2:]:
        run.append([event])
    monkeypatch.setattr(run_folder, "append_whole", whole)
    run.append([last])
    assert not run.unsaved, "the end is written in any case"
    assert [to_json(event) for event in read_anew(runs, run).events] == [to_json(event) for event in run.events]


def test_a_full_disk_does_not_end_the_run(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create(config(steps=4))
    monkeypatch.setattr(run_folder.RunFolder, "write_events", full)
    finish(run)
    assert run.state == "finished"
    assert run.unsaved == "This run cannot be saved: No space left on device."


def test_a_full_disk_is_one_line_in_the_log_for_thirty_runs(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(LOG, "propagate", True)
    monkeypatch.setattr(
        LOG, "handlers", []
    )  # pytest also listens at a log that an earlier test has made to stand alone
    monkeypatch.setattr("time.monotonic", lambda: 1e7)
    made = [runs.create(config(steps=4)) for _ in range(30)]
    monkeypatch.setattr(run_folder.RunFolder, "write_events", full)
    for run in made:
        finish(run)
    assert all(run.unsaved for run in made)
    assert caplog.messages == [f"Run {made[0].id} cannot be saved: No space left on device"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_in_a_file_that_are_not_finite_are_missing(runs: Runs, number: str) -> None:
    run = finish(runs.create(config(steps=4)))
    file, damaged = run.folder / "events.jsonl", list[str]()
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["event"] == "started":
            row["chance"] |= {"accuracy": "X"}
            row |= {"floor": "X", "steps_per_second": "X", "memory": row["memory"] | {"saved": "X"}}
        elif row["event"] in ("progress", "finished"):
            row["metrics"] = {"accuracy": "X"}
        damaged.append(json.dumps(row).replace('"X"', number))
    file.write_text("\n".join(damaged) + "\n", "utf-8")
    found = read_anew(runs, run)
    assert len(found.events) == len(damaged)
    assert found.started is not None
    assert "accuracy" not in found.started.chance
    assert (found.started.floor, found.started.steps_per_second, found.started.memory.saved) == (None, None, None)
    json.dumps([to_json(event) for event in found.events], allow_nan=False)

    file.write_text(file.read_text("utf-8").replace('"step": 2', f'"step": {number}'), "utf-8")
    assert read_anew(runs, run).step == 1, "without its number a step cannot be read"


def test_a_run_that_the_disk_does_not_let_go_of_stays(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = finish(runs.create(config(steps=2)))
    monkeypatch.setattr("shutil.rmtree", full)
    with pytest.raises(OSError, match="No space left"):
        runs.delete(run.id)
    assert [one.id for one in runs.recent()] == [run.id]


def test_a_loss_that_is_not_finite_survives_the_disk_and_every_event_is_written_as_to_json_gives_it(runs: Runs) -> None:
    full = Progress(1, 2.5, 1e-30, 0.1, 1e9, {"a": 1.0}, {"loss": 2.0}, {"0.q": 0.5, "head": 1.0})
    broken = Progress(2, float("nan"), 1.0, 0.1, 1.0, {"a": float("inf")})
    run = runs.create(RunConfig())
    run.append([full, broken, Failed(2, "Grüße → NaN", 0, "loss")])
    lines = (run.folder / "events.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [to_json(event) for event in run.events]

    found = read_anew(runs, run)
    assert (found.state, found.ending) == ("failed", run.ending)


def test_one_slow_folder_stops_no_other(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, other = (finish(runs.create(config(steps=3))).id for _ in range(2))
    cold, reads, go_on = Runs(runs.folder), list[str](), threading.Event()
    read_events = run_folder.RunFolder.read_events

    def read(folder: run_folder.RunFolder) -> Iterator[Event]:
        reads.append(folder.path.name)
        assert folder.path.name != slow or go_on.wait(240)
        return read_events(folder)

    monkeypatch.setattr(run_folder.RunFolder, "read_events", read)
    with ThreadPoolExecutor(2) as threads:
        futures = [threads.submit(cold.get, slow) for _ in range(2)]
        while not reads:
            time.sleep(0.001)
        found = cold.get(other)
        assert found.state == "finished"
        assert cold.create(config()) in cold.live()
        assert not any(one.done() for one in futures)
        go_on.set()
        first, second = (one.result() for one in futures)
    assert first is second is cold.get(slow)
    assert reads.count(slow) == 1, "who asks for the same run waits, and does not read it again"


def test_nobody_waits_for_the_disk_and_the_order_there_is_right(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run, writing, go_on = runs.create(config()), threading.Event(), threading.Event()
    write_events = run_folder.RunFolder.write_events

    def write(folder: run_folder.RunFolder, events: Sequence[Event]) -> list[Event]:
        writing.set()
        assert go_on.wait(240)
        return write_events(folder, events)

    monkeypatch.setattr(run_folder.RunFolder, "write_events", write)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(run.append, [Progress(1, 1.0, 1.0, 0.1, 1.0)])
        assert writing.wait(240)
        second = threads.submit(run.append, [Ended(1, "stopped")], "paused")
        assert not run.wait_for(1, timeout=0.01), "nothing is told before it is written"
        run.wait_in_queue(None)
        assert (run.state, len(run.events)) == ("queued", 0)
        go_on.set()
        first.result()
        second.result()
    assert run.state == "stopped"
    found = read_anew(runs, run)
    assert [type(event) for event in found.events] == [Progress, Ended]
    assert list(found.events) == list(run.events)
