import os
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import get_ident
from typing import Any

import psutil
import pytest

from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.store import Runs
from engine.serving import questions
from engine.serving.pool import Pool
from engine.serving.processes import supervisor
from engine.serving.questions import Questions
from tests.engine.fake_training import Add, Nap, Note, WorkerPid
from tests.engine.serving.test_pool import FAKE, PATIENCE, long_run, pid_of, pool_of, until, wait_stopped

ANN, BOB = Visitor("ann"), Visitor("bob")
checks = Counter[int]()  # the number of times that each thread has looked for a process


@pytest.fixture(autouse=True)
def count_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    update = Questions.dispatch

    def counted(self: Questions) -> None:
        update(self)
        checks[get_ident()] += 1

    monkeypatch.setattr(Questions, "dispatch", counted)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    with pool_of(tmp_path, grace_seconds=1.5, jobs_per_visitor=4, job_processes=1) as pool:
        yield pool


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as threads:
        yield threads


def submit_job(
    threads: ThreadPoolExecutor, pool: Pool, job: Job[Any], visitor: Visitor = PROGRAM, timeout: float = PATIENCE
) -> Future[Any]:
    """The answer of a job that has been asked when this returns: its thread has looked for a process."""
    asking = list[int]()

    def ask() -> Any:
        checks[get_ident()] = 0
        asking.append(get_ident())
        return pool.ask(job, visitor, timeout=timeout)

    future = threads.submit(ask)
    until(lambda: bool(asking) and checks[asking[0]] > 0)
    return future


def roles(pool: Pool) -> list[str]:
    return [worker.role for worker in pool.health().workers]


def answering(pool: Pool) -> int:
    return sum(worker.job is not None and worker.job.begun_at is not None for worker in pool.health().workers)


def busy(pool: Pool) -> bool:
    return answering(pool) > 0


def test_equal_questions_under_way_are_answered_once(pool: Pool, threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    note = Note(str(tmp_path / "notes"), "once", 1.0)
    answers = [submit_job(threads, pool, note, visitor) for visitor in (ANN, BOB, ANN)]
    assert [answer.result() for answer in answers] == ["once"] * 3
    assert (tmp_path / "notes").read_text().split() == ["once"]
    assert pool.ask(note) == "once"
    assert (tmp_path / "notes").read_text().split() == ["once", "once"], "an answer is not kept"


def test_one_caller_who_gives_up_takes_nothing_from_another(pool: Pool, threads: ThreadPoolExecutor) -> None:
    patient = submit_job(threads, pool, Nap(3.5))
    until(lambda: busy(pool))
    with pytest.raises(JobError, match="took longer"):
        pool.ask(Nap(3.5), timeout=0.1)
    assert patient.result() == 3.5


def test_a_job_that_takes_too_long_holds_up_nobody_and_costs_no_run(pool: Pool, threads: ThreadPoolExecutor) -> None:
    run, pid = long_run(pool), pool.ask(WorkerPid())
    trains = pid_of(pool, run)
    hopeless = threads.submit(pool.ask, Nap(3600), ANN, timeout=1.0)
    until(lambda: busy(pool))
    waiting = [submit_job(threads, pool, Add(n), BOB) for n in range(3)]
    with pytest.raises(JobError, match=r"^The question took longer than 1 s\.$"):
        hopeless.result()
    assert [answer.result() for answer in waiting] == [0, 1, 2]
    assert pool.ask(WorkerPid()) != pid
    step = run.step
    until(lambda: run.step > step)
    assert pid_of(pool, run) == trains
    wait_stopped(pool, run)


def test_a_job_process_that_hangs_idle_is_replaced_and_asked_again(pool: Pool) -> None:
    pid = pool.ask(WorkerPid())
    os.kill(pid, signal.SIGSTOP)
    assert pool.ask(WorkerPid(), timeout=PATIENCE) != pid
    assert not psutil.pid_exists(pid)


def test_visitors_take_turns_and_addresses_too(pool: Pool, threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    notes = str(tmp_path / "notes")
    first = submit_job(threads, pool, Nap(3.0))
    until(lambda: busy(pool))
    cookies = [Visitor(f"cookie {n}", "10.0.0.1") for n in range(4)]
    dora, emil = Visitor("dora", "10.0.0.2"), Visitor("emil", "10.0.0.3")
    asking = [*((f"c{n}", cookie) for n, cookie in enumerate(cookies)), ("d1", dora), ("d2", dora), ("e1", emil)]
    answers = [submit_job(threads, pool, Note(notes, name, 0.0), visitor) for name, visitor in asking]
    for answer in (first, *answers):
        answer.result()
    assert Path(notes).read_text().split() == ["c0", "d1", "e1", "c1", "d2", "c2", "c3"]


def test_waiting_for_a_process_is_not_computing_and_ends_no_process(pool: Pool, threads: ThreadPoolExecutor) -> None:
    pid = pool.ask(WorkerPid())
    first = submit_job(threads, pool, Nap(3.0), ANN)
    until(lambda: busy(pool))
    behind = submit_job(threads, pool, Nap(3.5), BOB, timeout=6.0)  # longer than it takes, and less than both together
    with pytest.raises(JobError, match=r"^The question has waited for 0\.5 s, because many ask at once\. Ask again\.$"):
        pool.ask(Add(1), Visitor("carla"), timeout=0.5)
    assert (first.result(), behind.result()) == (3.0, 3.5)
    assert pool.ask(WorkerPid()) == pid


def test_cookies_of_one_address_leave_processes_to_others(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    cookies = [Visitor(f"cookie {n}", "10.0.0.1") for n in range(4)]
    with pool_of(tmp_path, job_processes=4) as pool:
        waiting = [submit_job(threads, pool, Nap(PATIENCE + n), cookie) for n, cookie in enumerate(cookies)]
        until(lambda: sum(worker.job is not None for worker in pool.health().workers) == 2)
        assert pool.ask(Add(2), Visitor("dora", "10.0.0.2"), timeout=PATIENCE) == 2
        assert sum(worker.job is not None for worker in pool.health().workers) == 2
    for answer in waiting:
        with pytest.raises(JobError, match="closing"):
            answer.result()


def test_a_visitor_has_so_many_jobs_at_once(pool: Pool, threads: ThreadPoolExecutor) -> None:
    going = [submit_job(threads, pool, Nap(1.0 + n / 100), ANN) for n in range(4)]
    with pytest.raises(JobError, match=r"^You have 4 jobs going, and this host allows 4 at once\."):
        pool.ask(Add(1), ANN)
    assert pool.ask(Add(1), BOB) == 1
    for answer in going:
        answer.result()
    assert pool.ask(Add(1), ANN) == 1


ONE, OTHER = Visitor("cookie 1", "10.0.0.1"), Visitor("cookie 2", "10.0.0.1")


@pytest.mark.parametrize(("first", "next_one"), [(ANN, ANN), (ONE, OTHER)])
def test_who_asks_without_end_while_others_train_waits_and_others_do_not(
    first: Visitor, next_one: Visitor, tmp_path: Path, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if each question has another cookie."""
    allowance = "AT_ONCE" if first is next_one else "ADDRESS_AT_ONCE"
    for name, value in (("SHARE", 0.001), ("ADDRESS_SHARE", 0.001), (allowance, 0.1)):
        monkeypatch.setattr(questions, name, value)
    with pool_of(tmp_path, jobs_per_visitor=4) as strict:
        assert strict.ask(Add(1, 1), first) == 2
        with pytest.raises(JobError, match="took longer"):  # it counts however it ends
            strict.ask(Nap(3600), first, timeout=1.0)
        assert strict.ask(Add(1, 2), next_one) == 3, "nobody else trains"
        own_run = long_run(strict, visitor=next_one)
        assert strict.ask(Add(1, 3), next_one) == 4, "nobody else trains"
        wait_stopped(strict, own_run)
        run = long_run(strict)
        waiting = submit_job(threads, strict, Add(3, 4), next_one)
        assert strict.ask(Add(5, 6), BOB) == 11
        assert not waiting.done()
        wait_stopped(strict, run)
        assert waiting.result(PATIENCE) == 7


def test_the_start_of_a_process_takes_nothing_of_a_questions_time(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    pool = Pool(Runs(tmp_path), training=FAKE)
    answer = submit_job(threads, pool, Add(2, 3), timeout=0.01)
    with pool:
        assert answer.result() == 5


def test_a_question_has_a_largest_size(pool: Pool) -> None:
    assert pool.ask(Note(os.devnull, "word", 0.0)) == "word"
    with pytest.raises(JobError, match=r"^The question is longer than 1 MiB\.$"):
        pool.ask(Note(os.devnull, "word" * 2**18, 0.0))


def test_questions_have_a_process_that_ends_when_nobody_asks(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = long_run(pool)
    assert roles(pool) == ["runs"]
    pids = {pool.ask(WorkerPid()), pool.ask(WorkerPid()), pool.ask(WorkerPid(), alone=True)}
    assert len(pids) == 1, "who asks again finds the process that knows the model"
    assert pid_of(pool, run) not in pids, "no job goes to a worker that trains"
    assert roles(pool) == ["runs", "jobs"]
    monkeypatch.setattr(supervisor, "IDLE_SECONDS", 0.1)
    until(lambda: roles(pool) == ["runs"])
    assert pool.ask(Add(2)) == 2


def test_nobody_waits_for_the_long_questions_of_others(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    with pool_of(tmp_path) as pool:
        waiting = [submit_job(threads, pool, Nap(PATIENCE + number), who) for number, who in enumerate((ANN, BOB))]
        until(lambda: answering(pool) == 2)
        second = submit_job(threads, pool, Add(1), ANN)
        assert pool.ask(Add(2), Visitor("carla"), timeout=PATIENCE) == 2
        assert not second.done(), "one visitor never has two"
        assert roles(pool).count("jobs") == 3
    for answer in (*waiting, second):
        with pytest.raises(JobError, match="closing"):
            answer.result()
