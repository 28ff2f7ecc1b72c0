import asyncio
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.analysis.attention.jobs import FollowAnswers, ReadUserSequence
from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.foundation.visitor import Visitor
from engine.runs.events import Progress, Snapshot
from engine.runs.folder import RunFolder
from engine.runs.log import EventLog, StepTable
from engine.runs.run import Run
from pages.parts.boards.component import PLOTLY_ADDRESS
from pages.parts.web.board_data import exact_route, lines_route, untrained_route, user_sequence_route
from pages.parts.web.compose import plotly_route
from tests.pages.web.test_compose import threads_of
from tests.pages.web.test_live import Counted, ask
from tests.scripted import ScriptedRun
from tools.record import FOLDER

Get = Callable[[str], dict[str, Any]]
HOPS = Run.from_disk(RunFolder(FOLDER.parent / "hops"))


@pytest.fixture
def run() -> ScriptedRun:
    return ScriptedRun().advance(1000)


def test_a_snapshots_exact_arrays_are_read_by_step_and_name_and_no_others_are_given(run: ScriptedRun) -> None:
    client = TestClient(Starlette(routes=[exact_route({run.id: run}.get)]))
    snapshots = [event for event in run.events if isinstance(event, Snapshot)]
    for snapshot in (snapshots[0], snapshots[-1]):
        answer = client.get(f"/live/{run.id}/{snapshot.step}/patterns/self")
        found = np.frombuffer(answer.content, "<f4").reshape(json.loads(answer.headers["x-shape"]))
        np.testing.assert_array_equal(found, snapshot.patterns["self"])
    assert client.get(f"/live/{run.id}/0/encoding/similarity").status_code == 200

    for path in ("0/patterns/cross", "7/patterns/self", "0/encoding/matrix.3"):
        answer = client.get(f"/live/{run.id}/{path}")
        assert (answer.status_code, answer.content) == (204, b""), "what a run does not keep is no error"
    assert client.get(f"/live/{run.id}/0/samples/self").status_code == 400
    assert client.get("/live/unknown/0/patterns/self").status_code == 404
    assert client.post(f"/live/{run.id}/0/patterns/self").status_code == 405


def test_a_runs_lines_are_read_with_every_step_and_every_digit(run: ScriptedRun) -> None:
    client = TestClient(Starlette(routes=[lines_route({run.id: run}.get)]))
    answer = client.get(f"/live/{run.id}/lines", params={"name": ["loss", "validation.loss", "nothing"]})
    content = answer.json()
    progress = [event for event in run.events if isinstance(event, Progress)]
    assert content.keys() == {"loss", "validation.loss"}
    assert content["loss"] == [[event.step for event in progress], [event.loss for event in progress]]
    assert client.get("/live/unknown/lines").status_code == 404
    assert client.post(f"/live/{run.id}/lines").status_code == 405


def test_an_exact_array_counts_as_a_stream(run: ScriptedRun) -> None:
    counted = Counted(1)
    with TestClient(Starlette(routes=[exact_route({run.id: run}.get, admit=counted)])) as client:
        address = f"/live/{run.id}/7/patterns/nothing"
        assert client.get(address).status_code == 204
        assert (len(counted.came), counted.inside) == (1, 0)
        counted.most = 0
        answer = client.get(address)
        assert (answer.status_code, answer.text) == (429, "You have enough streams.")


class Watched(EventLog):
    """Events that count the readings of their steps, and the threads that read at once."""

    times = inside = most = 0

    def tables(self, after: int = 0, upto: int | None = None) -> list[StepTable]:
        self.times, self.inside = self.times + 1, self.inside + 1
        self.most = max(self.most, self.inside)
        time.sleep(0.02)  # so that another thread could come in
        found = super().tables(after, upto)
        self.inside -= 1
        return found


def test_lines_are_made_one_after_another_whoever_asks(run: ScriptedRun) -> None:
    run.events = events = Watched(run.events)
    counted = Counted(8)
    app = Starlette(routes=[lines_route({run.id: run}.get, admit=counted)])
    with TestClient(app) as client, ThreadPoolExecutor(8) as visitors:
        answers = list(visitors.map(client.get, [f"/live/{run.id}/lines?name=loss&name=grad_norm"] * 8))
        assert {len(answer.json()) for answer in answers} == {2}
        assert events.most == 1
        assert (len(counted.came), counted.inside) == (8, 0)
        counted.most = 0
        answer = client.get(f"/live/{run.id}/lines?name=loss")
        assert (answer.status_code, answer.text) == (429, "You have enough streams.")
        many = "&".join(f"name=line{number}" for number in range(201))
        assert client.get(f"/live/{run.id}/lines?{many}").status_code == 400
        assert events.times == 16


def test_a_line_is_made_when_the_one_before_has_been_sent_and_the_answer_counts_until_then(run: ScriptedRun) -> None:
    run.events = events = Watched(run.events)
    counted = Counted(1)
    app = Starlette(routes=[lines_route({run.id: run}.get, admit=counted)])

    async def read_slowly() -> None:
        async def send(message: Any) -> None:
            if message.get("more_body"):
                bodies.append(message["body"])
                assert counted.inside == 1
                assert events.times <= len(bodies)

        bodies = list[bytes]()
        query = b"name=loss&name=grad_norm&name=learning_rate"
        await ask(app, f"/live/{run.id}/lines", send, asyncio.Event(), query)
        assert json.loads(b"".join(bodies)).keys() == {"loss", "grad_norm", "learning_rate"}

    asyncio.run(read_slowly())
    assert (len(counted.came), counted.inside) == (1, 0)


@pytest.fixture
def jobs() -> list[Job[Any]]:
    return []


@pytest.fixture
def get(jobs: list[Job[Any]]) -> Get:
    """Ask an address whose jobs are done in this process."""

    def answered(job: Job[Any], _: Visitor) -> Any:
        jobs.append(job)
        try:
            return job.do()
        except ValueError as error:
            raise JobError(str(error)) from error

    routes = [untrained_route(answered), user_sequence_route(answered, {HOPS.id: HOPS}.get)]
    client = TestClient(Starlette(routes=routes))

    def answer(path: str) -> dict[str, Any]:
        response = client.get(path)
        assert response.status_code == 200
        found: dict[str, Any] = response.json()
        return found

    return answer


def test_an_untrained_model_is_the_beginning_of_a_run_and_reads_what_is_typed(get: Get, jobs: list[Job[Any]]) -> None:
    content = get("/untrained?v=1&seq_len=4&device=cpu&seed=5")
    assert content["status"]["state"] == "none"
    assert [snapshot["step"] for snapshot in content["snapshots"]] == [0]
    assert {"loss", "accuracy", "memory", "matrix", "pattern.self"} <= content["figures"].keys()
    assert content["milestones"]["levels"].keys() == {"above chance", "half right", "learned"}
    get("/untrained?v=1&seq_len=4&device=cpu&seed=5")
    assert len(jobs) == 1  # the second visitor gets the same answer
    leaking = get("/untrained?v=1&seq_len=4&device=cpu&seed=5&mask_fault=missing")
    assert leaking["milestones"]["levels"].keys() == {"above chance", "half right"}

    snapshot = get("/own?v=1&seq_len=4&device=cpu&text=1+2+3+4")["snapshot"]
    assert snapshot["samples"][0]["tokens"][:4] == ["1", "2", "3", "4"]


def test_a_model_is_read_without_each_part_that_is_named(get: Get, jobs: list[Job[Any]]) -> None:
    settings = "v=1&seq_len=4&device=cpu&n_layers=2"
    untrained = get(f"/untrained?{settings}")["snapshots"][0]
    whole, less = (get(f"/own?{settings}&text={more}")["snapshot"] for more in ("", "&without=mlp.0&without=layer.1"))
    assert whole["samples"][0] == untrained["samples"][0], "without a text, the sequence that a run is watched on"
    assert whole["residual"] == untrained["residual"]
    assert [len(one["residual"]["norm"]) for one in (whole, less)] == [3, 2]
    assert less["patterns"]["self"]["shape"][0] == 1
    assert [part.name for part in vars(jobs[-1])["ablated_parts"]] == ["mlp.0", "layer.1"]
    assert all(0 < right < 1 for right in whole["residual"]["right"][-1])
    assert "ablation" not in less
    head = get(f"/own?{settings}&without=head.1.0")["snapshot"]
    assert all(set(piece) == {"text", "part"} for piece in head["ablation"]["words"])
    assert head["ablation"]["details"].startswith("Counted in 100 other sequences (in this one: ")


def test_of_an_ended_run_the_links_are_asked_for_once_for_all_and_not_without_some_parts(
    get: Get, jobs: list[Job[Any]]
) -> None:
    whole, again, less = (get(f"/own?run={HOPS.id}&text={more}")["snapshot"] for more in ("", "", "&without=mlp.0"))
    assert whole == again
    assert [type(job) for job in jobs] == [ReadUserSequence, FollowAnswers, ReadUserSequence]
    named = {f"head.{one['layer']}.{one['head']}" for path in whole["paths"] if path for one in path["readings"]}
    assert named == {"head.0.0", "head.1.0"}
    assert not any(path["readings"] for path in less["paths"] if path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/own?v=1&seq_len=4&without=skip.1", "without is skip.1; it must be one of skip.0, norm.0"),
        ("/untrained?v=1&n_layers=many", "n_layers"),
        (
            "/untrained?v=1&n_layers=12&d_model=512&seq_len=512&n_heads=8&batch_size=512",
            "too much for a preview. Train it to see it",
        ),
        ("/own?v=1&seq_len=4&text=1+x+3", "x"),
        ("/own?run=nobody&text=1+2", "run is"),
        (f"/own?v=1&text={'1+' * 1500}", "characters"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(get: Get, path: str, words: str) -> None:
    problem = get(path)["problem"]
    assert words in problem
    assert problem.endswith(".")


def test_questions_that_wait_hold_up_no_page() -> None:
    waiting, answered = threading.Semaphore(0), threading.Event()

    def wait(job: Job[Any], _: Visitor) -> Any:
        waiting.release()
        answered.wait()
        raise JobError("It has waited long enough.")

    app = Starlette(routes=[untrained_route(wait), plotly_route()])
    with TestClient(app) as client, ThreadPoolExecutor(64) as visitors:
        usual = threads_of(client)
        asking = [visitors.submit(client.get, f"/untrained?v=1&seq_len=4&seed={seed}") for seed in range(usual)]
        for _ in range(usual):
            waiting.acquire()
        try:
            assert visitors.submit(client.get, f"/{PLOTLY_ADDRESS}").result(240).status_code == 200
        finally:
            answered.set()
        assert {answer.result().json()["problem"] for answer in asking} == {"It has waited long enough."}
