"""Measurements on models whose answer is known: one goes by position, one by content, one by the rule."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from engine.analysis.measurements import accuracy_by_position, decorrelated, shuffle_meters, table_structure
from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.model.build import build_model
from engine.tasks.key_token.data import shortcut_answers
from engine.training.data import Data
from engine.training.trained import Trained

KEYED = parse({"task": "key_token", "family": "encoder", "seq_len": 16, "shortcut": 0.9})


class ByPosition(nn.Module):
    """Answers g(position), whatever the tokens are."""

    def forward(self, inputs: Tensor, positions: Any = None, **_: Any) -> Tensor:
        at = torch.tensor(positions or range(inputs.size(1)))
        return one_hot(shortcut_answers(64, 4)[at], 4).float().expand(len(inputs), -1, -1)


class ByRule(nn.Module):
    """Adds the key; looks at no position."""

    def forward(self, inputs: Tensor, **_: Any) -> Tensor:
        key = (inputs - 4).clamp(min=0).sum(dim=1, keepdim=True)
        return one_hot((inputs + key) % 4, 4).float()


class KnowsTheFront(nn.Module):
    """One back: right at positions below 10, never behind."""

    def forward(self, inputs: Tensor, **_: Any) -> Tensor:
        before = inputs.roll(1, dims=1)
        before[:, 10:] = (before[:, 10:] + 1) % 10
        return one_hot(before, 10).float()


def trained(config: RunConfig, model: nn.Module) -> Trained:
    return Trained(config, model, Data(config), torch.device("cpu"))


def test_a_model_that_goes_by_position_is_found_out_and_one_that_follows_the_rule_is_cleared() -> None:
    found = shuffle_meters.measure(trained(KEYED, ByPosition()))
    assert found["unchanged_by_content"] == 1.0
    assert 0.1 < found["unchanged_by_positions"] < 0.5
    assert decorrelated.measure(trained(KEYED, ByPosition()))["decorrelated_accuracy"] == pytest.approx(0.25, abs=0.03)

    found = shuffle_meters.measure(trained(KEYED, ByRule()))
    assert found["unchanged_by_content"] == pytest.approx(0.25, abs=0.03)
    assert found["unchanged_by_positions"] == 1.0
    assert decorrelated.measure(trained(KEYED, ByRule()))["decorrelated_accuracy"] == 1.0


@pytest.mark.parametrize(
    "settings",
    [{"family": "encoder_decoder"}, {"randomized_positions": 2}, {"task": "own_position", "variant": "padded"}],
)
def test_the_meters_work_in_every_framing(settings: dict[str, Any]) -> None:
    config = parse({"seq_len": 5, **settings})
    model = build_model(config, **shapes(config).of_model)
    assert all(0 <= share <= 1 for share in shuffle_meters.measure(trained(config, model)).values())


def test_accuracy_is_pooled_over_positions_of_like_exposure() -> None:
    lengths = {"seq_len": 20, "min_seq_len": 10, "length_decay": 0.5}
    config = parse({"task": "k_back", "k": 1, **lengths, "steps": 100, "batch_size": 32})
    found = accuracy_by_position.measure(trained(config, KnowsTheFront()))
    assert found.pop("accuracy_seen_3000_to_10000") == 1.0
    assert found == dict.fromkeys(found, 0.0)
    assert "accuracy_seen_1000_to_3000" in found


def test_exposures_are_what_the_data_show_and_a_continuing_decoder_reads_twice_as_far() -> None:
    config = parse({"task": "k_back", "k": 1, "seq_len": 8, "min_seq_len": 3, "length_decay": 0.7, "steps": 1000})
    data = Data(config.replace(batch_size=1))
    seen = torch.tensor([data.training_batch().inputs.size(1) for _ in range(1000)])
    counted = [32 * int((seen > position).sum()) for position in range(8)]
    assert accuracy_by_position.exposures(config) == pytest.approx(counted, rel=0.25)
    assert accuracy_by_position.exposures(RunConfig(seq_len=4, steps=10, batch_size=2)) == [20.0] * 7


@pytest.mark.parametrize(("times", "name"), [(29.9, "0_to_30"), (30, "30_to_100"), (1e12, "from_100000")])
def test_bands_include_their_lower_edge(times: float, name: str) -> None:
    assert accuracy_by_position.band(times) == f"accuracy_seen_{name}"


def test_structure_is_one_along_a_line_of_angles_about_zero_in_random_rows_and_of_a_learned_table_only() -> None:
    angles = torch.arange(24).double() * 0.05
    fan = torch.stack([angles.cos(), angles.sin()], dim=1)
    assert table_structure.structure(fan) == pytest.approx(1, abs=0.05)
    assert table_structure.structure(fan[torch.randperm(24)]) < 0.5
    noise = torch.randn(64, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert table_structure.structure(noise) == pytest.approx(0, abs=0.1)

    for encoding, numbers in (("learned", {"table_structure", "table_norm"}), ("rope", set[str]())):
        config = parse({"pos_encoding": encoding, "d_model": 16})
        model = build_model(config, **shapes(config).of_model)
        assert set(table_structure.measure(trained(config, model))) == numbers
