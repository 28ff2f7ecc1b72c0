"""The predicted time of what is measured after the last step."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config.run_config import parse
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters
from engine.estimate.prediction import result_seconds
from engine.estimate.speed import Speed

SPEED = Speed(overhead=1e-4, rate=1e10)


def seconds(**settings: Any) -> float:
    config = parse({"d_model": 64, "n_heads": 4, "n_layers": 2, **settings})
    return result_seconds(config, SPEED, count_parameters(config, **shapes(config).of_model))


def test_each_test_length_adds_to_it_and_only_what_writes_is_timed_for_writing() -> None:
    times = [seconds(seq_len=16, test_lengths=lengths) for lengths in ((), (16,), (16, 32), (16, 32, 64))]
    assert times == sorted(set(times))
    assert seconds(seq_len=64) > seconds(seq_len=127, task="k_back")  # both read 127 tokens


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_a_whole_pass_for_each_token_grows_with_the_square_of_the_length(family: str) -> None:
    """Where a fault forbids to keep the past, against where it is kept: twice the length, about four times and twice the time."""
    faulty = [seconds(seq_len=n, family=family, mask_fault="off_by_one", pos_encoding="alibi") for n in (32, 64)]
    kept = [seconds(seq_len=n, family=family, pos_encoding="alibi") for n in (32, 64)]
    assert faulty[1] / faulty[0] > 3
    assert kept[1] / kept[0] < 3
    assert faulty[1] > 10 * kept[1]
