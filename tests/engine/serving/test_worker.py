"""Workers with the real training: the pool changes no number, and leaves the weights."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, load_model

from engine.config.run_config import RunConfig
from engine.runs.events import Event, Failed, Finished, Progress, Snapshot
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.serving.pool import Pool
from engine.training.train import prepare, train
from tests.engine.serving.test_pool import PATIENCE, wait_end
from tests.engine.training.test_state import numbers as every_number

PLAIN = RunConfig().replace(steps=40, seed=3)
NOISY = PLAIN.replace(dropout=0.3, seed=5, pos_encoding="rope")


@pytest.fixture(scope="module")
def pool(warm: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with Pool(Runs(tmp_path_factory.mktemp("runs")), size=1) as pool:
        assert pool.wait_until_ready(PATIENCE)
        yield pool


def numbers(events: Iterable[Event]) -> list[dict[str, Any]]:
    """All a run's numbers but those that a clock gave."""
    kept = [event for event in events if isinstance(event, Progress | Finished)]
    clocked = ("tokens_per_second", "seconds", "memory")
    return [{name: value for name, value in asdict(event).items() if name not in clocked} for event in kept]


def test_a_run_in_the_pool_has_the_numbers_and_weights_of_the_run_alone_whoever_trains_beside_it(pool: Pool) -> None:
    other = pool.submit(RunRequest(NOISY.replace(steps=5000, seed=9)))
    model = prepare(NOISY)
    alone = list(train(NOISY, model))
    run = wait_end(pool.submit(RunRequest(NOISY)))
    assert other.live, "it went on meanwhile"
    assert other.step > 0
    pool.stop(other.id)
    wait_end(other)
    assert isinstance(run.ending, Finished)
    assert numbers(run.events) == numbers(alone)

    stored = load_file(run.weights)
    assert set(stored) == set(model.state_dict())
    for name, value in model.state_dict().items():
        assert torch.equal(stored[name], value), name

    found = Runs(pool.runs.folder).get(run.id)
    looks = ([event for event in told if isinstance(event, Snapshot)] for told in (found.events, alone))
    assert every_number(next(looks)) == every_number(next(looks))


def test_a_stopped_run_leaves_weights_that_load(pool: Pool) -> None:
    config = PLAIN.replace(steps=50_000, share_layers=True, n_layers=3)
    run = pool.submit(RunRequest(config))
    assert run.wait_for(10, 60)
    pool.stop(run.id)
    wait_end(run)
    assert run.state == "stopped"
    fresh = prepare(config)
    load_model(fresh, str(run.weights))
    untrained = prepare(config).state_dict()
    assert any(not torch.equal(value, untrained[name]) for name, value in fresh.state_dict().items())


def test_a_run_that_cannot_be_built_fails_in_one_sentence(pool: Pool) -> None:
    missing = "mps" if not torch.backends.mps.is_available() else "cuda"
    run = wait_end(pool.submit(RunRequest(PLAIN.replace(device=missing))))
    assert isinstance(run.ending, Failed)
    assert run.ending.reason.startswith(f"device is {missing}; this machine has cpu")
    assert pool.health().device["torch"] == str(torch.__version__)
