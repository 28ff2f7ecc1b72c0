"""Limits: refused before it starts, with the setting to lower and a value that fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.prediction import Prediction
from engine.estimate.prediction import predict as real_prediction
from engine.hosting import limits as allowed_by
from engine.hosting.limits import Limits
from engine.settings.costs import Memory


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
    """One mebibyte a sequence, position and layer; a hundred steps a second."""
    saved = config.batch_size * config.seq_len * config.n_layers * 2**20
    memory = Memory(parameters=2**20, gradients=2**20, optimizer=2**21, saved=saved, scores=0)
    return prediction(memory, 100.0, result_seconds, peak=memory.total or 0)


def small(config: RunConfig) -> Prediction:
    """Four mebibytes, whatever the config."""
    memory = Memory(parameters=2**20, gradients=2**20, optimizer=2**20, saved=2**20, scores=0)
    return prediction(memory, 100.0, 0.0, peak=memory.total or 0)


def unknown(config: RunConfig) -> Prediction:
    return prediction(
        Memory(parameters=2**33, gradients=0, optimizer=0, saved=None, scores=None), None, None, peak=2**33
    )


def refusal(config: RunConfig, limits: Limits, predict: Callable[[RunConfig], Prediction]) -> str | None:
    return allowed_by.refusal(config, predict(config), limits, predict)


def limits(**given: object) -> Limits:
    return Limits.model_validate(given)


def test_what_fits_is_taken() -> None:
    assert refusal(RunConfig(), limits(), predict) is None


def test_too_many_steps() -> None:
    config = RunConfig().replace(steps=500_000)
    assert refusal(config, limits(steps=20_000), predict) == "steps is 500000; this host allows at most 20000."


def test_too_much_memory_names_a_value_that_fits_and_one_more_does_not() -> None:
    allowed = limits(memory="1GiB")
    config = RunConfig().replace(batch_size=4096, seq_len=10)
    sentence = refusal(config, allowed, predict)
    assert sentence.startswith("batch_size is 4096: the run would take 40 GiB and this host allows 1 GiB;")
    found = re.search(r"set batch_size to (\d+) or less", sentence)
    assert found
    size = int(found[1])
    assert refusal(config.replace(batch_size=size), allowed, predict) is None
    assert refusal(config.replace(batch_size=size + 1), allowed, predict) is not None


def test_where_the_batch_is_not_enough_the_next_setting_is_named() -> None:
    config = RunConfig().replace(batch_size=1, seq_len=1000)
    sentence = refusal(config, limits(memory="104MiB"), predict)
    assert "set seq_len to 100 or less" in sentence


def test_where_nothing_alone_helps_it_says_so() -> None:
    sentence = refusal(RunConfig(), limits(memory="1KiB"), predict)
    assert sentence.endswith("choose a much smaller model.")


def test_without_a_formula_the_bound_counts() -> None:
    sentence = refusal(RunConfig(), limits(memory="1GiB"), unknown)
    assert "8 GiB" in sentence


WIDE = {"d_model": 64, "batch_size": 1}
TOO_MUCH: dict[str, dict[str, Any]] = {
    "patterns of 64 heads": {**WIDE, "seq_len": 1024, "n_layers": 8, "n_heads": 64},
    "patterns of 64 heads that label": {**WIDE, "task": "k_back", "seq_len": 1024, "n_layers": 12, "n_heads": 64},
    "a recurrent family": {"family": "gru", "task": "k_back", "seq_len": 768, "d_model": 256, "batch_size": 512},
    "the largest one": {"family": "gru", "task": "k_back", "seq_len": 1024, "d_model": 1024, "batch_size": 4096},
    "a large training set": {"task": "k_back", "seq_len": 1024, "batch_size": 1, "dataset_size": 1_000_000},
    **{
        name: {"task": "k_back", "seq_len": 512, "d_model": 64, "n_heads": 4, "n_layers": 4, "pos_encoding": name}
        for name in ("fire", "kerple", "cope", "designed")
    },
    "dropout in fused attention": {"task": "k_back", "seq_len": 512, "d_model": 64, "n_heads": 4, "dropout": 0.1},
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_takes_more_than_its_step_is_refused(name: str) -> None:
    allowed = Limits.from_environment({"ATTENTION_LAB_MEMORY": "256MiB"})
    config = parse(TOO_MUCH[name])
    sentence = allowed_by.refusal(config, real_prediction(config), allowed, real_prediction)
    assert "the run would take" in sentence
    found = re.search(r"set (\w+) to (\d+) or less", sentence)
    if found:
        fitting = config.replace(**{found[1]: int(found[2])})
        assert allowed_by.refusal(fitting, real_prediction(fitting), allowed, real_prediction) is None


def test_long_sequences_whose_patterns_are_made_one_layer_at_a_time_are_taken() -> None:
    allowed = Limits.from_environment({"ATTENTION_LAB_MEMORY": "256MiB"})
    config = parse({**WIDE, "seq_len": 512, "n_layers": 6, "n_heads": 8})
    assert allowed_by.refusal(config, real_prediction(config), allowed, real_prediction) is None


def test_too_long_names_the_steps_that_fit() -> None:
    config = RunConfig().replace(steps=30_000)
    sentence = refusal(config, limits(seconds=60), predict)
    assert sentence.startswith("steps is 30000:")
    assert sentence.endswith("set steps to 6000 or less.")
    assert refusal(config.replace(steps=6000), limits(seconds=60), predict) is None


def test_what_is_measured_after_the_last_step_counts() -> None:
    slow = partial(predict, result_seconds=50.0)
    config = RunConfig().replace(steps=2000)
    assert refusal(config, limits(seconds=60), predict) is None
    sentence = refusal(config, limits(seconds=60), slow)
    assert sentence.endswith("set steps to 1000 or less.")
    assert refusal(config.replace(steps=1000), limits(seconds=60), slow) is None


def test_where_no_number_of_steps_helps_it_says_what_does() -> None:
    sentence = refusal(RunConfig(), limits(seconds=60), partial(predict, result_seconds=100.0))
    assert sentence.endswith("choose a smaller model or a shorter seq_len.")


def test_limits_come_from_the_environment() -> None:
    found = Limits.from_environment({"ATTENTION_LAB_STEPS": "77", "ATTENTION_LAB_MEMORY": "512MiB", "HOME": "/"})
    assert (found.steps, found.memory, found.seconds) == (77, 512 * 2**20, Limits().seconds)


@pytest.mark.parametrize(
    ("name", "value"), [("STEPS", "many"), ("STEPS", "0"), ("MEMORY", "2 elephants"), ("GRACE_SECONDS", "-1")]
)
def test_a_bad_variable_is_named_in_one_sentence(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=rf"^ATTENTION_LAB_{name} is {value!r}: [^\n]+\.$"):
        Limits.from_environment({f"ATTENTION_LAB_{name}": value})
