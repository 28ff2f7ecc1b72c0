"""Devices that this machine need not have, by stand-ins for torch's facts."""

import re
from collections.abc import Callable

import pytest
import torch

from engine.config.run_config import parse
from engine.estimate.prediction import predict
from engine.estimate.speed import Speed, remember_speeds
from engine.training.device import RandomState, choose_device, describe_device

SetAccelerator = Callable[[str | None], None]

pytestmark = pytest.mark.usefixtures("own_data_folder")


@pytest.fixture
def set_accelerator(monkeypatch: pytest.MonkeyPatch) -> SetAccelerator:
    """Let torch find an accelerator of a kind, or none."""

    def let(kind: str | None) -> None:
        device = None if kind is None else torch.device(kind)
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: kind is not None)
        monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: device)

    return let


CORE, GPU = Speed(1e-3, 1e10), Speed(1e-4, 1e12)


@pytest.mark.parametrize("requested", ["auto", "cuda"])
def test_a_run_on_a_gpu_says_that_its_numbers_vary_and_without_one_it_is_refused(
    requested: str, set_accelerator: SetAccelerator
) -> None:
    def choice(device: str = "auto", **speeds: Speed) -> tuple[torch.device, str]:
        config = parse({"device": device})
        return choose_device(config, predict(config, speeds))

    set_accelerator("cuda")
    device, note = choice(requested, cpu=CORE, cuda=GPU)
    assert device.type == "cuda"
    assert note.startswith("On cuda the same settings and seed give nearly the same numbers")
    assert choice("cpu", cpu=CORE, cuda=GPU) == (torch.device("cpu"), "")

    set_accelerator(None)
    assert choice(cpu=CORE, cuda=GPU) == (torch.device("cpu"), "")
    with pytest.raises(ValueError, match=r"device is cuda; this machine has cpu\."):
        choice("cuda", cpu=CORE, cuda=GPU)


@pytest.mark.parametrize(
    ("speeds", "kind", "says"),
    [
        ({"cpu": CORE, "cuda": GPU}, "cuda", r"A step is predicted to take 320 µs on cuda and 5.04 ms on cpu\.$"),
        ({"cpu": GPU, "cuda": CORE}, "cpu", r"^A step is predicted to take 320 µs on cpu and 5.04 ms on cuda\.$"),
        (
            {"cpu": CORE},
            "cpu",
            r"^The number of FLOPs of a step decided on the device: the speed of cuda is not measured",
        ),
    ],
)
def test_the_note_says_what_was_compared(
    speeds: dict[str, Speed], kind: str, says: str, set_accelerator: SetAccelerator
) -> None:
    set_accelerator("cuda")
    device, note = choose_device(parse({}), predict(parse({}), speeds))
    assert device.type == kind
    assert re.search(says, note), note


def test_the_choice_is_that_of_the_prediction_whatever_was_measured_since(set_accelerator: SetAccelerator) -> None:
    set_accelerator("cuda")
    before = predict(parse({}), {"cpu": GPU, "cuda": CORE})
    remember_speeds({"cpu": CORE, "cuda": GPU})
    assert choose_device(parse({}), before)[0].type == "cpu"
    assert choose_device(parse({}), predict(parse({})))[0].type == "cuda"


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


def test_a_worker_tells_the_free_memory_of_the_gpu_that_it_owns(
    set_accelerator: SetAccelerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two GPUs by stand-ins for torch's facts, three workers."""
    set_accelerator("cuda")
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda slot: None)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda slot: f"GPU {slot}")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda slot: (10 + slot, 100))
    facts = [describe_device(slot, owns=True) for slot in range(3)]
    memory = [(one["accelerator_name"], one["accelerator_memory"]) for one in facts]
    assert memory == [("GPU 0", 10), ("GPU 1", 11), ("", 0)]
    monkeypatch.setattr(torch.cuda, "set_device", None)  # it would make a context
    other = describe_device(0, owns=False)
    assert (other["accelerators"], other["accelerator_memory"]) == (2, 0)


@pytest.mark.parametrize("kind", ["cuda", "mps", "cpu"])
def test_a_state_of_another_device_is_taken_over_as_far_as_it_goes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a data folder was moved to a machine without a GPU, or to one with another."""
    written = list[str]()
    for name in ("cuda", "mps"):
        monkeypatch.setattr(getattr(torch, name), "get_rng_state", lambda *device: torch.zeros(1))
        monkeypatch.setattr(
            getattr(torch, name), "set_rng_state", lambda state, *device, name=name: written.append(name)
        )
    here = RandomState(0, torch.device(kind))
    for random_state in (None, torch.zeros(1)):
        here.states = torch.get_rng_state(), random_state
        with here.active():
            torch.rand(1)
    assert set(written) == {kind} - {"cpu"}
