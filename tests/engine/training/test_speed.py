from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.estimate.prediction import predict
from engine.estimate.speed import BASELINES, BaselineSpeed, Speed, fully_measured, known_speeds
from engine.runs.events import Progress
from engine.training import speed
from engine.training.speed import measure_speed, not_negative

pytestmark = pytest.mark.usefixtures("own_data_folder")

GRU = BaselineSpeed("gru", step=2e-4, layer=3e-5, number=1e-11, flop=1e-13)
GPU = Speed(1e-4, 2e13, tuple(replace(GRU, family=family) for family in BASELINES))
BUFFER, CAPTURE = 16, 3.0  # steps that the stand-in takes at once, and the seconds of the first of them


def stand_in(config: RunConfig, record: object) -> Iterator[Progress]:
    """A run on a device of a known speed: the steps are taken in buffers, and the first buffer takes long. On the CPU each step
    takes some of the thread's time."""
    prediction, length = predict(config), shapes(config).length
    each = GPU.seconds_on(config, prediction.flops_per_step, config.batch_size, length)
    for first in range(1, config.steps + 1, BUFFER):
        for step in range(first, first + BUFFER):
            if config.device == "cpu":
                sum(range(5000))
            last_step = first + BUFFER - 1
            pace = prediction.tokens_per_step * last_step / (CAPTURE + each * last_step)
            yield Progress(step, 1.0, 1.0, 0.1, pace, {}, None, None)


@pytest.fixture(autouse=True)
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "find_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(speed, "train", stand_in)


def test_an_accelerator_is_measured_too_without_its_first_steps_and_over_buffers() -> None:
    found = measure_speed()
    assert found == known_speeds()
    assert fully_measured()
    assert list(found) == ["cpu", "cuda"]
    for measured, right in zip(found["cuda"].baselines, GPU.baselines, strict=True):
        assert measured.step + 8 * measured.layer == pytest.approx(right.step + 8 * right.layer, rel=0.05)
    for config in (speed.SMALL, speed.LARGE, speed.LARGEST):
        work = config, predict(config).flops_per_step, config.batch_size, shapes(config).length
        assert found["cuda"].seconds_on(*work) == pytest.approx(GPU.seconds_on(*work), rel=0.05)


def test_where_the_accelerator_fails_the_speed_of_the_cpu_is_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(config: RunConfig, record: object) -> Iterator[Progress]:
        if config.device != "cpu":
            raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate")
        yield from stand_in(config, record)

    monkeypatch.setattr(speed, "train", fails)
    assert list(measure_speed()) == list(known_speeds()) == ["cpu"]
    assert fully_measured(), "it is not tried at every start"
    assert "The speed of cuda could not be measured: CUDA out of memory." in caplog.text


def test_known_prices_are_found_and_none_is_below_zero() -> None:
    work = np.array([[1, 4, 100, 1e6], [1, 64, 500, 2e6], [1, 16, 9000, 4e6], [1, 8, 700, 9e8], [1, 30, 3000, 1e8]])
    prices = np.array([1e-3, 2e-5, 3e-8, 4e-12])
    assert not_negative(work, work @ prices) == pytest.approx(prices, rel=1e-6)

    work = np.array([[1, 10, 1e6], [1, 20, 1e6], [1, 30, 5e6]])
    prices = not_negative(work, np.array([5e-3, 4e-3, 3e-3]))
    assert min(prices) >= 0
    assert max(prices) > 0
