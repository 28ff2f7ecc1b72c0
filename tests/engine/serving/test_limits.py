"""Limits: refused before it starts, with the setting to lower and a value that fits."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.device import DeviceChoice
from engine.estimate.prediction import Prediction
from engine.estimate.prediction import predict as real_prediction
from engine.serving import limits as allowed_by
from engine.serving.limits import PROFILES, Accelerator, Limits
from engine.settings.costs import Memory
from tests.tables import tables_beside

CASES = tables_beside(__file__)


def prediction(
    memory: Memory, steps_per_second: float | None, result_seconds: float | None, peak: int | None = None
) -> Prediction:
    """``peak``: by default what a step is known to take."""
    if peak is None:
        peak = memory.parameters + memory.gradients + memory.optimizer + (memory.saved or 0)
    return Prediction(
        parameters=1, by_part={}, memory=memory, tokens_per_step=1, flops_per_step=1e6,
        steps_per_second=steps_per_second, result_seconds=result_seconds, peak=peak, between=peak,
    )  # fmt: skip


def predict(config: RunConfig, result_seconds: float = 0.0) -> Prediction:
    """One mebibyte per sequence, position and layer; a hundred steps per second."""
    saved = config.batch_size * config.seq_len * config.n_layers * 2**20
    memory = Memory(parameters=2**20, gradients=2**20, optimizer=2**21, saved=saved, scores=0)
    return prediction(memory, 100.0, result_seconds, peak=memory.total or 0)


def refusal(
    config: RunConfig,
    limits: Limits,
    predict: Callable[[RunConfig], Prediction] = predict,
    accelerator: Accelerator | None = None,
) -> str:
    """The sentence, empty where the run is taken."""
    return allowed_by.refusal(config, predict(config), limits, predict, accelerator) or ""


def limits(**given: object) -> Limits:
    return Limits.model_validate(given)


@pytest.mark.parametrize(("settings", "allowed", "begins", "ends"), CASES["refusals"])
def test_what_is_too_much_is_named_with_a_value_that_fits_and_one_more_does_not(
    settings: dict[str, Any], allowed: dict[str, object], begins: str, ends: str
) -> None:
    config = RunConfig().replace(**settings)
    sentence = refusal(config, limits(**allowed))
    assert bool(sentence) == bool(ends)
    assert (sentence.startswith(begins), sentence.endswith(ends)) == (True, True), sentence
    for name, value in re.findall(r"set (\w+) to (\d+) or less", sentence):
        assert not refusal(config.replace(**{name: int(value)}), limits(**allowed))
        assert refusal(config.replace(**{name: int(value) + 1}), limits(**allowed))


def test_without_a_formula_the_bound_counts() -> None:
    unknown = prediction(Memory(2**33, 0, 0, saved=None, scores=None), None, None)
    assert "8 GiB" in refusal(RunConfig(), limits(memory="1GiB"), lambda config: unknown)


GPU = Accelerator("NVIDIA H100", 78 * 2**30)
LARGE = parse(
    {
        "task": "shakespeare_chars", "pos_encoding": "learned", "seq_len": 256, "d_model": 384, "n_layers": 6, "n_heads": 6,
        "batch_size": 64, "dropout": 0.2, "steps": 2500, "dtype": "bfloat16_mixed",
    }
)  # fmt: skip
"""Of the size of nanoGPT's small model of characters."""


def test_a_run_on_a_gpu_is_weighed_against_its_memory_and_the_host_counts_what_lies_beside() -> None:
    public = Limits.model_validate(PROFILES["public"])
    assert public.accelerator_memory is not None
    assert public.accelerator_memory < GPU.memory
    assert "and this host allows 2 GiB" in refusal(LARGE, Limits(), real_prediction)
    for allowed in (Limits(), limits(memory="192MiB"), public):
        assert not refusal(LARGE, allowed, real_prediction, GPU)
    shares = refusal(LARGE, Limits(), real_prediction, Accelerator("mps", 0))
    assert "and this host allows 2 GiB" in shares, "its memory is the host's"


@pytest.mark.parametrize(
    ("allowed", "accelerator", "says"),
    [
        ({}, GPU._replace(memory=2**30), "of the memory of NVIDIA H100, which has 1 GiB for it;"),
        ({"accelerator_memory": "3GiB"}, GPU, "of the memory of NVIDIA H100 and this host allows 3 GiB;"),
        ({"accelerator_memory": "3GiB"}, GPU._replace(memory=2**30), "which has 1 GiB for it;"),
        ({"memory": "100MiB"}, GPU, "of the host's memory with NVIDIA H100 and this host allows 100 MiB"),
    ],
)
def test_what_is_too_much_for_a_gpu_is_named_with_its_limit(
    allowed: dict[str, object], accelerator: Accelerator, says: str
) -> None:
    sentence = refusal(LARGE, limits(**allowed), real_prediction, accelerator)
    assert says in sentence
    for name, value in re.findall(r"set (\w+) to (\d+) or less", sentence):
        assert not refusal(LARGE.replace(**{name: int(value)}), limits(**allowed), real_prediction, accelerator)


def test_no_time_is_held_against_a_run_on_an_accelerator_whose_speed_is_not_measured() -> None:
    for device in ("cpu", "cuda"):

        def timed(config: RunConfig, device: str = device) -> Prediction:
            return replace(predict(config), device=DeviceChoice(True, device))

        sentence = refusal(RunConfig().replace(steps=2000), limits(seconds=10), timed, GPU)
        assert sentence.endswith("set steps to 1000 or less.") == (device == "cuda")


WIDE = {"d_model": 64, "batch_size": 1}
TOO_MUCH: dict[str, dict[str, Any]] = CASES["too_much"]


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_takes_more_than_its_step_is_refused(name: str) -> None:
    allowed, config = limits(memory="256MiB"), parse(TOO_MUCH[name])
    sentence = refusal(config, allowed, real_prediction)
    assert "the run would take" in sentence
    for setting, value in re.findall(r"set (\w+) to (\d+) or less", sentence):
        assert not refusal(config.replace(**{setting: int(value)}), allowed, real_prediction)


def test_long_sequences_whose_patterns_are_made_one_layer_at_a_time_are_taken() -> None:
    config = parse({**WIDE, "seq_len": 512, "n_layers": 6, "n_heads": 8})
    assert not refusal(config, limits(memory="256MiB"), real_prediction)


def test_what_is_measured_after_the_last_step_counts() -> None:
    slow, config = partial(predict, result_seconds=50.0), RunConfig().replace(steps=2000)
    assert refusal(config, limits(seconds=60), slow).endswith("set steps to 1000 or less.")
    assert not refusal(config.replace(steps=1000), limits(seconds=60), slow)
    hopeless = refusal(RunConfig(), limits(seconds=60), partial(predict, result_seconds=100.0))
    assert hopeless.endswith("choose a smaller model or a shorter seq_len.")


def test_limits_come_from_the_environment() -> None:
    found = Limits.from_environment({"ATTENTION_LAB_STEPS": "77", "ATTENTION_LAB_MEMORY": "512MiB", "HOME": "/"})
    assert (found.steps, found.memory, found.seconds) == (77, 512 * 2**20, Limits().seconds)


@pytest.mark.parametrize(
    ("name", "value"), [("STEPS", "many"), ("STEPS", "0"), ("MEMORY", "2 elephants"), ("GRACE_SECONDS", "-1")]
)
def test_a_bad_variable_is_named_in_one_sentence(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=rf"^ATTENTION_LAB_{name} is {value!r}: [^\n]+\.$"):
        Limits.from_environment({f"ATTENTION_LAB_{name}": value})
