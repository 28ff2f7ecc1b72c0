"""Devices that this machine need not have, by stand-ins for torch's facts: the choice, its note, the random state; a speed's fit."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from engine.config.run_config import parse
from engine.estimate.prediction import CPU_IS_FASTER_BELOW
from engine.training.device import RandomState, choose_device, describe_device
from engine.training.speed import not_negative

Found = Callable[[str | None], None]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Found:
    """Let torch find an accelerator of a kind, or none."""

    def let(kind: str | None) -> None:
        device = None if kind is None else torch.device(kind)
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: kind is not None)
        monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: device)

    return let


@pytest.mark.parametrize("asked", ["auto", "cuda"])
def test_a_run_on_a_gpu_says_that_its_numbers_vary_and_without_one_it_is_refused(asked: str, found: Found) -> None:
    found("cuda")
    device, note = choose_device(parse({"device": asked}), CPU_IS_FASTER_BELOW)
    assert device.type == "cuda"
    assert note.startswith("On cuda the same settings and seed give nearly the same numbers")
    assert choose_device(parse({"device": "cpu"}), CPU_IS_FASTER_BELOW) == (torch.device("cpu"), "")

    found(None)
    assert choose_device(parse({}), 1e12) == (torch.device("cpu"), "")
    with pytest.raises(ValueError, match=r"device is cuda; this machine has cpu\."):
        choose_device(parse({"device": "cuda"}), 1e12)


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_random_state_on_a_gpu_belongs_to_the_run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU's generator is a CPU's here."""
    generator = torch.Generator()
    module = getattr(torch, kind)
    monkeypatch.setattr(module, "get_rng_state", lambda *device: generator.get_state())
    monkeypatch.setattr(module, "set_rng_state", lambda state, *device: generator.set_state(state))
    monkeypatch.setattr(torch, "manual_seed", lambda seed: generator.manual_seed(seed))
    before = generator.get_state()

    def draws(*runs: RandomState) -> list[list[float]]:
        drawn: list[list[float]] = [[] for _ in runs]
        for _ in range(3):
            for run, numbers in zip(runs, drawn, strict=True):
                with run.active():
                    numbers.append(torch.rand((), generator=generator).item())
        return drawn

    device = torch.device(kind)
    alone = draws(RandomState(0, device)) + draws(RandomState(1, device))
    assert draws(RandomState(0, device), RandomState(1, device)) == alone
    assert torch.equal(generator.get_state(), before)


def test_a_worker_tells_the_free_memory_of_the_gpu_that_it_owns(found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two GPUs by stand-ins for torch's facts, three workers."""
    found("cuda")
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda slot: None)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda slot: f"GPU {slot}")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda slot: (10 + slot, 100))
    facts = [describe_device(slot) for slot in range(3)]
    told = [(own["accelerator_name"], own["accelerator_memory"]) for own in facts]
    assert told == [("GPU 0", 10), ("GPU 1", 11), ("", 0)]


def test_known_prices_are_found_and_none_is_below_zero() -> None:
    work = np.array([[1, 4, 100, 1e6], [1, 64, 500, 2e6], [1, 16, 9000, 4e6], [1, 8, 700, 9e8], [1, 30, 3000, 1e8]])
    prices = np.array([1e-3, 2e-5, 3e-8, 4e-12])
    assert not_negative(work, work @ prices) == pytest.approx(prices, rel=1e-6)

    work = np.array([[1, 10, 1e6], [1, 20, 1e6], [1, 30, 5e6]])
    prices = not_negative(work, np.array([5e-3, 4e-3, 3e-3]))
    assert min(prices) >= 0
    assert max(prices) > 0
