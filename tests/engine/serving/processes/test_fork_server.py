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


def child_and_facts(*arguments: str) -> tuple[Child, dict[str, Any]]:
    """A child that goes on, and its report about itself."""
    child = Child([*COMMAND, *arguments])
    until(lambda: bool(child.messages))
    return child, child.messages[0]


def end(*children: Child) -> list[str]:
    for child in children:
        child.process.close()
    for child in children:
        assert child.process.wait(PATIENCE)
    return [child.process.end_in_words() for child in children]


@forks
def test_children_have_no_thread_no_file_and_no_random_state_of_each_other(
    warm_server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forked, "WARM", WARM)
    monkeypatch.setattr(forked, "FORK_SERVER", warm_server)
    (first, one), (second, two) = child_and_facts("first"), child_and_facts("second")
    assert (one["arguments"], two["arguments"]) == (["first"], ["second"])
    assert one["parent"] == two["parent"] == warm_server.pid
    for child_facts in (one, two):
        assert (child_facts["threads"], child_facts["system threads"], child_facts["cuda"]) == (1, 1, False)
        assert (child_facts["files"], len(child_facts["random"])) == ([0, 1, 2], 3)
    assert not set(one["random"]) & set(two["random"])
    server = psutil.Process(warm_server.pid)
    assert (server.num_threads(), server.net_connections(kind="inet")) == (1, [])
    assert end(first, second) == ["exit code 0"] * 2


@forks
def test_a_killed_fork_server_takes_no_child_along_and_a_new_one_comes(cold: ForkServer) -> None:
    child, facts = child_and_facts("goes on")
    os.kill(cold.pid, signal.SIGKILL)
    until(lambda: psutil.Process(child.process.pid).ppid() != facts["parent"])
    later, _ = child_and_facts("later")
    child.process.send("still here")
    until(lambda: "still here" in child.messages)
    assert end(child, later) == ["its fork server did not say how", "exit code 0"]
    orphan, _ = child_and_facts("killed")
    os.kill(cold.pid, signal.SIGKILL)
    orphan.process.kill()
    assert orphan.process.wait(PATIENCE)
    assert orphan.process.memory() == 0


@forks
def test_many_threads_start_children_at_once_and_no_fork_server_is_left(cold: ForkServer) -> None:
    with ThreadPoolExecutor(8) as threads:
        children = list(threads.map(lambda number: child_and_facts(str(number)), range(8)))
    assert [facts["arguments"] for _, facts in children] == [[str(number)] for number in range(8)]
    assert {facts["parent"] for _, facts in children} == {cold.pid}
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
    assert child.process.end_in_words() == "signal 9"


@forks
@pytest.mark.parametrize("waits", ["for a child", "for a child's end"])
def test_a_fork_server_that_stands_still_is_replaced_by_whoever_waits_for_it(cold: ForkServer, waits: str) -> None:
    child, first = child_and_facts("goes on")
    os.kill(cold.pid, signal.SIGSTOP)
    if waits == "for a child":
        never = Child([*COMMAND, "never"])
        assert never.process.wait(PATIENCE)
        assert (never.process.pid, never.process.end_in_words()) == (0, "its fork server did not start it")
        never.process.kill()
    assert end(child) == ["its fork server did not say how"]
    later, facts = child_and_facts("later")
    assert facts["parent"] == cold.pid != first["parent"]
    assert end(later) == ["exit code 0"]


@forks
def test_a_fork_server_that_hangs_otherwise_ends_with_who_gives_up_waiting_for_it(
    cold: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    child, _ = child_and_facts("goes on")
    monkeypatch.setattr(forked, "is_stopped", lambda pid: False)
    os.kill(cold.pid, signal.SIGSTOP)
    waits = Child([*COMMAND, "waits"])
    waits.process.kill()
    assert not waits.process.wait(0.1), "it may come to it yet"
    monkeypatch.setattr(forked, "HANGS_AFTER", 0.0)
    waits.process.kill()
    assert waits.process.wait(PATIENCE)
    later, facts = child_and_facts("later")
    for ended in (waits, child):
        ended.process.close()
        assert ended.process.wait(PATIENCE)
        ended.process.kill()
    assert facts["parent"] == cold.pid
    assert psutil.pid_exists(cold.pid), "who has ended takes nobody along"
    end(later)


@forks
def test_a_fork_server_without_descriptors_refuses_in_a_sentence_and_lives_on(
    cold: ForkServer, capfd: pytest.CaptureFixture[str]
) -> None:
    child, _ = child_and_facts("goes on")
    server = psutil.Process(cold.pid)
    limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (server.num_fds() + 2, limits[1]))
    refused = Child([*COMMAND, "refused"])
    assert refused.process.wait(PATIENCE)
    assert (refused.process.pid, refused.messages, refused.ends) == (0, [], 1)
    assert refused.process.end_in_words() == "its fork server did not start it"
    assert capfd.readouterr().err == "A process cannot be started: the fork server has no descriptors left.\n"
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
    later, facts = child_and_facts("later")
    assert facts["parent"] == cold.pid == server.pid
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
    child, _ = child_and_facts("goes on")
    assert end(child) == ["exit code 0"]
    output = capfd.readouterr().err
    assert output.startswith("The fork server cannot import broken_one (")
    assert output.count("\n") == 1


@pytest.mark.parametrize("by", ["fork", "spawn"])
def test_both_ways_agree(by: str, cold: ForkServer, monkeypatch: pytest.MonkeyPatch, own_data_folder: Path) -> None:
    if by == "spawn":
        monkeypatch.setattr(children, "FORKS", False)
    elif not FORKS:
        pytest.skip("nothing is forked here")
    for name in SECRETS:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    child, facts = child_and_facts("one", "two")
    assert (facts["parent"] == os.getpid()) == (by == "spawn")
    assert facts["arguments"] == ["one", "two"]
    environment = facts["environment"]
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
