"""Two servers on one data folder: each knows that the other is alive, what goes on there, and that it is gone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from engine.foundation.errors import Refused
from engine.foundation.fork_server import ROOT
from engine.foundation.visitor import Visitor
from engine.runs.events import Ended, Progress
from engine.runs.lease import SILENT, ServerLease
from engine.runs.request import RunRequest
from engine.runs.retention import Retention
from engine.runs.store import Runs
from engine.workers.pool import Pool
from tests.engine.fake_training import config
from tests.engine.hosting.test_limits import predict
from tests.engine.workers.test_pool import FAKE

NOTHING = Retention(runs=0, bytes=0)


@pytest.fixture
def other(tmp_path: Path) -> Runs:
    """The runs of another server, which is alive, in the same folder."""
    runs = Runs(tmp_path / "runs")
    runs.lease.take()
    return runs


def test_a_run_that_goes_on_elsewhere_is_not_lost_and_is_read_anew(other: Runs, tmp_path: Path) -> None:
    run, here = other.create(config(), "me"), Runs(tmp_path / "runs")
    run.append([Progress(1, 0.5, 1.0, 0.01, 10.0)], "running")
    found = here.get(run.id)
    assert (found.state, found.step, found.elsewhere) == ("running", 1, True)
    run.append([Ended(1, "stopped")])
    assert here.get(run.id).state == "stopped"  # type: ignore[union-attr]


def test_nothing_of_another_server_is_deleted_and_what_it_made_counts(other: Runs, tmp_path: Path) -> None:
    here = Runs(tmp_path / "runs")
    own = here.create(config(), "me")
    own.append([Ended(0, "stopped")])
    assert [run.id for run in here.recent()] == [own.id], "it has been read before the other server's runs"
    live, ended = other.create(config(), "me"), other.create(config(), "me")
    ended.append([Ended(0, "stopped")])
    here.prune(Retention(runs=1))
    assert not own.folder.exists(), "another server's run is newer"
    assert {run.id for run in here.recent()} == {live.id, ended.id}
    here.prune(NOTHING)
    here.delete(live.id)
    assert other.get(live.id)
    assert live.folder.exists()
    assert ended.folder.exists()
    other.lease.release()
    here.prune(NOTHING)
    assert not live.folder.exists()
    assert not ended.folder.exists()


def test_it_is_steered_where_it_goes_on_only(other: Runs, tmp_path: Path) -> None:
    run = other.create(config(), "me")
    pool = Pool(Runs(tmp_path / "runs"), size=1, training=FAKE, predict=predict)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="another server"):
        pool.stop(run.id, Visitor("me"))
    with pytest.raises(Refused, match="another server"):
        pool.steer(run.id, "pause", Visitor("me"))


def test_a_server_that_is_silent_for_long_is_gone(other: Runs, tmp_path: Path) -> None:
    run, here = other.create(config()), ServerLease(tmp_path / "servers")
    file = tmp_path / "servers" / f"{other.lease.id}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "host": "another machine"}))
    assert [holder.id for holder in here.others()] == [other.lease.id]
    long_ago = file.stat().st_mtime - SILENT - 1
    os.utime(file, (long_ago, long_ago))
    assert here.others() == []
    assert Runs(tmp_path / "runs").get(run.id).state == "lost"  # type: ignore[union-attr]
    here.tidy()
    assert not file.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell when a process began whatever the clock says")
@pytest.mark.parametrize("hours", [-1, 1])
def test_a_new_time_ends_no_server(other: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    run, proc = other.create(config()), tmp_path / "proc"
    proc.mkdir()
    (proc / str(os.getpid())).symlink_to(f"/proc/{os.getpid()}")
    booted = int(psutil.boot_time())
    set_anew = Path("/proc/stat").read_text().replace(f"btime {booted}", f"btime {booted + hours * 3600}")
    (proc / "stat").write_text(set_anew)
    began, now = psutil.Process().create_time(), (tmp_path / "servers" / f"{other.lease.id}.json").stat().st_mtime
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(proc))
    monkeypatch.setattr("time.time", lambda: now + hours * 3600)
    assert psutil.Process().create_time() == pytest.approx(began + hours * 3600, abs=2)
    here = Runs(tmp_path / "runs")
    assert here.get(run.id).elsewhere  # type: ignore[union-attr]
    here.prune(NOTHING)
    assert run.folder.exists()


def test_a_server_that_was_killed_is_gone_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from engine.runs.lease import ServerLease; "
        "lease = ServerLease(Path(sys.argv[1])); lease.take(); print(lease.id, flush=True); time.sleep(3600)"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    server = child.stdout.readline().strip()
    here = ServerLease(tmp_path)
    assert here.elsewhere(server)
    child.kill()
    child.stdout.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not here.elsewhere(server), "also while nobody has waited for the process"
    child.wait()
    assert not here.elsewhere(server)


def test_a_process_id_that_is_used_again_and_a_damaged_file_are_nobody(other: Runs, tmp_path: Path) -> None:
    here, file = ServerLease(tmp_path / "servers"), tmp_path / "servers" / f"{other.lease.id}.json"
    whole = file.read_text()
    file.write_text(json.dumps({**json.loads(whole), "began": psutil.Process().create_time() - 1000}))
    assert here.others() == []
    for content in ("", "[]", "{}", '{"id": "x", "pid": "y"}', "\x00"):
        file.write_text(content)
        assert here.others() == []
        here.tidy()


def test_the_pool_takes_it_and_gives_it_back(tmp_path: Path) -> None:
    second = Runs(tmp_path / "runs")
    with Pool(Runs(tmp_path / "runs"), size=1, training=FAKE, predict=predict) as pool:  # type: ignore[arg-type]
        assert pool.wait_until_ready(60)
        run = pool.submit(RunRequest(config(10_000, 0.05)))
        assert [holder.id for holder in second.lease.others()] == [pool.runs.lease.id]
        assert second.get(run.id).elsewhere  # type: ignore[union-attr]
    assert second.lease.others() == []
    assert second.get(run.id).suspended  # type: ignore[union-attr]
