from pathlib import Path

import pytest

from engine.serving import host
from engine.serving.limits import Limits
from tests.tables import tables_beside

MIB = 2**20
UNLIMITED = "9223372036854771712\n"  # version 1 shows this number if there is no limit
TREES = tables_beside(__file__)


def tree(folder: Path, groups: str, files: dict[str, str]) -> tuple[Path, Path]:
    """The tree of groups and the file with the process's path in it."""
    for name, content in files.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_text(content)
    (folder / "own").write_text(groups)
    return folder / "tree", folder / "own"


@pytest.mark.parametrize("name", TREES)
def test_a_container_s_share_of_the_machine_is_respected(name: str, tmp_path: Path) -> None:
    groups = tree(tmp_path, **TREES[name])
    assert (host.memory(*groups), host.cores(*groups)) == (690 * MIB, 1)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"cpu.max": "max 100000\n", "memory.max": "max\n"},
        {"memory/memory.limit_in_bytes": UNLIMITED, "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "1\n"},
    ],
)
def test_without_a_limit_the_machine_is_the_limit(files: dict[str, str], tmp_path: Path) -> None:
    groups = tree(tmp_path, "4:memory:/\n1:cpu:/\n0::/\n", files)
    nowhere = tmp_path / "missing", tmp_path / "missing"
    assert (host.cores(*groups), host.memory(*groups)) == (host.cores(*nowhere), host.memory(*nowhere))


def test_workers_stay_within_the_group_s_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = tree(tmp_path, **TREES["version 1, the own group is the root"])
    share = host.memory(*groups)
    monkeypatch.setattr(host, "memory", lambda: share)
    limits = Limits()
    assert limits.workers * limits.worker_memory <= 690 * MIB * 3 // 4
    assert host.question_count() * host.WORKER_BYTES // 2 <= 690 * MIB // 4
    assert limits.job_processes >= 3, "a third visitor does not wait for the long questions of two others"


@pytest.mark.parametrize(("memory", "beside"), [(690, 190), (760, 190), (1024, 256), (8192, 2048)])
def test_the_open_pages_of_a_class_count_in_the_memory_of_a_small_host(memory: int, beside: int) -> None:
    """``beside``: the memory left to the page process, in MiB; a quarter, or its size with thirty pages."""
    assert host.PAGE_BYTES + 30 * host.SESSION_BYTES == 190 * MIB
    assert memory * MIB - host.SHARED_BYTES - host.for_workers(memory * MIB) == beside * MIB


def test_the_least_host_has_room_for_a_worker() -> None:
    assert host.for_workers(200 * MIB) == host.WORKER_BYTES + MIB


@pytest.mark.parametrize(("profile", "large"), [("own", 2 * 2**30), ("public", 192 * MIB)])
def test_a_run_may_take_what_a_worker_can_give_it(profile: str, large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside of 690 MiB a worker has less than either profile allows a run; on a large machine the profile counts."""
    for share, allowed in ((690 * MIB, 0), (64 * 2**30, large)):
        monkeypatch.setattr(host, "memory", lambda share=share: share)
        limits = Limits.from_environment({"ATTENTION_LAB_PROFILE": profile, "ATTENTION_LAB_WORKERS": "1"})
        assert limits.memory == (allowed or limits.worker_memory - host.WORKER_BYTES)
    environment = {"ATTENTION_LAB_MEMORY": "1GiB", "ATTENTION_LAB_WORKER_MEMORY": "300MiB"}
    assert Limits.from_environment(environment).memory == 2**30, "the workers of a cluster may be larger"


@pytest.mark.parametrize(("free", "questions", "room"), [(80_000, 8, 80_000 - 8 * 518), (4_000, 8, 3_000), (0, 8, 0)])
def test_the_contexts_of_question_processes_have_room_on_a_gpu_and_never_most_of_it(
    free: int, questions: int, room: int
) -> None:
    assert host.room_on_accelerator(free * host.MIB, questions) == room * host.MIB


@pytest.mark.parametrize(
    ("role", "facts", "limited"),
    [
        ("runs", {}, True), ("runs", {"accelerator": None}, True), ("runs", {"accelerator": "mps"}, True), ("jobs", {}, True),
        ("runs", {"accelerator": "cuda", "accelerator_memory": 1}, False),
        ("runs", {"accelerator": "cuda", "accelerator_memory": 0}, True),
        ("own", {"accelerator": "cuda", "accelerator_memory": 0}, True),
        ("jobs", {"accelerator": "cuda", "accelerator_memory": 0}, False),
    ],
)  # fmt: skip
def test_the_system_limits_every_process_that_uses_no_cuda(role: str, facts: host.DeviceFacts, limited: bool) -> None:
    assert host.has_system_limit(role, facts) is limited
