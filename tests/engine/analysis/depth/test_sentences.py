import numpy as np
import pytest

from engine.analysis.depth.jobs import DepthNumbers
from engine.analysis.depth.sentences import depth_sentences


def numbers(share: float = 0.72, lengths: tuple[int, ...] = (8, 64)) -> DepthNumbers:
    return {
        "depths": np.array([1, 16]), "lengths": np.array(lengths, int),
        "roll_out": np.array([[0.0078, 0.5], [0.82, 0.1]]), "layer_weight": np.array([[0.016, 0.5], [0.0161, 0.5]]),
        "token_share": np.array([0.91, share]), "first_token": np.array([[0.3, 0.1], [1.41, 0.0048]])[:, : len(lengths)],
        "repeat": np.zeros((2, len(lengths))), "repeat_equal": np.array([[0, 0.2], [0.1, 0.5]])[:, : len(lengths)],
        "gradient": {"pre": np.array([3.0, 2.5]), "post": np.array([3.0, 1234.0])},
    }  # fmt: skip


def test_each_measurement_says_what_it_found_at_a_depth_and_names_its_source() -> None:
    found = {reading.name: reading for reading in depth_sentences(numbers(), 16)}
    assert {name: reading.sentence for name, reading in found.items()} == {
        "roll_out": "After 16 layers, the last position reads 82 % from the first token; layer 16 alone 1.6 %.",
        "token_share": "After 16 layers, tokens differ by 72 % of their size.",
        "first_token": "Another first token changes the last output by 141 % at length 8, 0.48 % at 64. "
        "In bfloat16, appending 1 to 0 1 … 1 leaves 50 % unchanged.",
        "gradient": "Layer 1: 2.5 with pre-LN and 1,234 with post-LN.",
    }
    assert [reading.brief for reading in found.values()] == [
        "82 % from the first token.",
        "72 % of their size.",
        "the first token changes it by 141 % at length 8, 0.48 % at 64.",
        "2.5 with pre-LN and 1,234 with post-LN in layer 1.",
    ]
    assert all(reading.address.startswith("https://arxiv.org/abs/") for reading in found.values())
    assert (
        depth_sentences(numbers(), 1)[0].sentence
        == "After 1 layer, the last position reads 0.78 % from the first token."
    )


def test_what_was_not_measured_is_not_said() -> None:
    assert [reading.name for reading in depth_sentences(numbers(lengths=()), 16)] == [
        "roll_out",
        "token_share",
        "gradient",
    ]
    assert "by 141 % at length 8. " in depth_sentences(numbers(lengths=(8,)), 16)[2].sentence
    assert (
        depth_sentences(numbers(share=3e-7), 16)[1].sentence
        == "After 16 layers, all tokens are equal, as far as float32 can tell."
    )
    with pytest.raises(ValueError, match="32"):
        depth_sentences(numbers(), 32)
