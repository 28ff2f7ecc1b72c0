"""The start of processes: forked children are ready at once, have nothing of each other, and outlive the fork server; spawned ones
are the same to whoever uses them."""

import os
import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.serving.processes import child as children
from engine.serving.processes import forked
from engine.serving.processes.child import FORKS
from engine.serving.processes.forked import WARM, ForkServer
from tests.engine.serving.processes.test_child import Child
from tests.engine.serving.test_pool import PATIENCE, until

COMMAND = ["-m", "tests.engine.serving.processes.forked"]
SECRETS = (
    "PYTHONSECRET",
    "PYTHON_TOKEN",
    "TORCH_KEY",
    "PYTORCH_TOKEN",
    "DATABASE_URL",
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "NVIDIA_API_KEY",
    "ATTENTION_LAB_FRAME_ANCESTORS",
)
forks = pytest.mark.skipif(not FORKS, reason="nothing is forked here")


def told(*arguments: str) -> tuple[Child, dict[str, Any]]:
    """A child that goes on, and what it has said of itself."""
    child = Child([*COMMAND, *arguments])
    until(lambda: bool(child.messages))
    return child, child.messages[0]


def end(*children: Child) -> list[str]:
    for child in children:
        child.process.close()
    for child in children:
        assert child.process.wait(PATIENCE)
    return [child.process.how_it_ended() for child in children]


@forks
def test_children_have_no_thread_no_file_and_no_random_state_of_each_other(
    warm_server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forked, "WARM", WARM)
    monkeypatch.setattr(forked, "FORK_SERVER", warm_server)
    (first, one), (second, two) = told("first"), told("second")
    assert (one["arguments"], two["arguments"]) == (["first"], ["second"])
    assert one["parent"] == two["parent"] == warm_server.pid
    for said in (one, two):
        assert (said["threads"], said["system threads"], said["cuda"]) == (1, 1, False)
        assert (said["files"], len(said["random"])) == ([0, 1, 2], 3)
    assert not set(one["random"]) & set(two["random"])
    server = psutil.Process(warm_server.pid)
    assert (server.num_threads(), server.net_connections(kind="inet")) == (1, [])
    assert end(first, second) == ["exit code 0"] * 2


@forks
def test_a_killed_fork_server_takes_no_child_along_and_a_new_one_comes(cold: ForkServer) -> None:
    child, said = told("goes on")
    os.kill(cold.pid, signal.SIGKILL)
    until(lambda: psutil.Process(child.process.pid).ppid() != said["parent"])
    later, _ = told("later")
    child.process.send("still here")
    until(lambda: "still here" in child.messages)
    assert end(child, later) == ["its fork server did not say how", "exit code 0"]
    orphan, _ = told("killed")
    os.kill(cold.pid, signal.SIGKILL)
    orphan.process.kill()
    assert orphan.process.wait(PATIENCE)
    assert orphan.process.memory() == 0


@forks
def test_many_threads_start_children_at_once_and_no_fork_server_is_left(cold: ForkServer) -> None:
    with ThreadPoolExecutor(8) as threads:
        children = list(threads.map(lambda number: told(str(number)), range(8)))
    assert [said["arguments"] for _, said in children] == [[str(number)] for number in range(8)]
    assert {said["parent"] for _, said in children} == {cold.pid}
    assert end(*(child for child, _ in children)) == ["exit code 0"] * 8
    pid = cold.pid
    cold.close()
    assert not psutil.pid_exists(pid)


@forks
def test_a_child_that_is_killed_before_it_is_there_does_not_live(cold: ForkServer) -> None:
    child = Child([*COMMAND, "never"], begin=False)
    child.process.kill()
    child.process.begin()
    assert child.process.wait(PATIENCE)
    assert child.process.how_it_ended() == "signal 9"


@forks
@pytest.mark.parametrize("waits", ["for a child", "for a child's end"])
def test_a_fork_server_that_stands_still_is_replaced_by_whoever_waits_for_it(cold: ForkServer, waits: str) -> None:
    child, first = told("goes on")
    os.kill(cold.pid, signal.SIGSTOP)
    if waits == "for a child":
        never = Child([*COMMAND, "never"])
        assert never.process.wait(PATIENCE)
        assert (never.process.pid, never.process.how_it_ended()) == (0, "its fork server did not start it")
        never.process.kill()
    assert end(child) == ["its fork server did not say how"]
    later, said = told("later")
    assert said["parent"] == cold.pid != first["parent"]
    assert end(later) == ["exit code 0"]


@forks
def test_a_fork_server_that_hangs_otherwise_ends_with_who_gives_up_waiting_for_it(
    cold: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    child, _ = told("goes on")
    monkeypatch.setattr(forked, "is_stopped", lambda pid: False)
    os.kill(cold.pid, signal.SIGSTOP)
    waits = Child([*COMMAND, "waits"])
    waits.process.kill()
    assert not waits.process.wait(0.1), "it may come to it yet"
    monkeypatch.setattr(forked, "HANGS_AFTER", 0.0)
    waits.process.kill()
    assert waits.process.wait(PATIENCE)
    later, said = told("later")
    for ended in (waits, child):
        ended.process.close()
        assert ended.process.wait(PATIENCE)
        ended.process.kill()
    assert said["parent"] == cold.pid
    assert psutil.pid_exists(cold.pid), "who has ended takes nobody along"
    end(later)


@forks
def test_a_fork_server_without_descriptors_refuses_in_a_sentence_and_lives_on(
    cold: ForkServer, capfd: pytest.CaptureFixture[str]
) -> None:
    child, _ = told("goes on")
    server = psutil.Process(cold.pid)
    limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (server.num_fds() + 2, limits[1]))
    refused = Child([*COMMAND, "refused"])
    assert refused.process.wait(PATIENCE)
    assert (refused.process.pid, refused.messages, refused.ends) == (0, [], 1)
    assert refused.process.how_it_ended() == "its fork server did not start it"
    assert capfd.readouterr().err == "A process cannot be started: the fork server has no descriptors left.\n"
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
    later, said = told("later")
    assert said["parent"] == cold.pid == server.pid
    assert end(child, later) == ["exit code 0"] * 2


@forks
@pytest.mark.parametrize(
    "failure", ["raise OSError('libtorch.so: not found')", "raise SystemExit(3)", "import nothing_such"]
)
def test_what_the_fork_server_cannot_import_is_told_once_and_children_that_need_none_of_it_start(
    cold: ForkServer, failure: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("broken_one", "broken_two"):
        (tmp_path / f"{name}.py").write_text(failure)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(forked, "WARM", ("broken_one", "broken_two"))
    child, _ = told("goes on")
    assert end(child) == ["exit code 0"]
    said = capfd.readouterr().err
    assert said.startswith("The fork server cannot import broken_one (")
    assert said.count("\n") == 1


@pytest.mark.parametrize("by", ["fork", "spawn"])
def test_both_ways_agree(by: str, cold: ForkServer, monkeypatch: pytest.MonkeyPatch, own_data_folder: Path) -> None:
    if by == "spawn":
        monkeypatch.setattr(children, "FORKS", False)
    elif not FORKS:
        pytest.skip("nothing is forked here")
    for name in SECRETS:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    child, said = told("one", "two")
    assert (said["parent"] == os.getpid()) == (by == "spawn")
    assert said["arguments"] == ["one", "two"]
    environment = said["environment"]
    assert not environment.keys() & set(SECRETS)
    assert "secret" not in environment.values()
    named = ("CUDA_VISIBLE_DEVICES", "ATTENTION_LAB_DATA", "OMP_NUM_THREADS")
    assert [environment[name] for name in named] == ["1", str(own_data_folder), "1"]
    for line in ("a line", "and another"):
        child.process.send(line)
    until(lambda: child.messages[1:] == ["a line", "and another"])
    exits, raises, killed = (Child([*COMMAND, what]) for what in ("exits", "raises", "is killed"))
    killed.process.kill()
    assert end(child, exits, raises, killed) == ["exit code 0", "exit code 3", "exit code 1", "signal 9"]
    assert [ended.ends for ended in (child, exits, raises, killed)] == [1] * 4
    assert child.process.memory() == 0


def test_what_the_fork_server_imports_is_there() -> None:
    for module in WARM:
        assert find_spec(module) is not None
