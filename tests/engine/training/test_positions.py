"""Where tokens stand when positions are randomized or dropped, and how long training sequences are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import length_law, shapes
from engine.estimate.memory import predict_memory
from engine.model.build import build_model
from engine.runs.events import Finished, Progress
from engine.training.data import Data, drawn, spread
from engine.training.evaluation import forward, predictions
from engine.training.measured_memory import saved_for_backward
from engine.training.train import train

SHORT = {"seq_len": 5, "steps": 4, "batch_size": 8, "d_model": 16}


def test_drawn_positions_ascend_and_lie_where_spread_ones_do_on_average() -> None:
    generator = torch.Generator().manual_seed(0)
    many = [drawn(5, 40, generator) for _ in range(4000)]
    assert all(list(row) == sorted(set(row)) and row[-1] < 40 for row in many)
    means = torch.tensor(many).double().mean(dim=0)
    for mean, place in zip(means.tolist(), spread(5, 40), strict=True):
        assert place <= mean + 0.3
        assert mean - 0.3 <= place + 1


@pytest.mark.parametrize(("length", "limit"), [(1, 1), (7, 7), (7, 8), (7, 1000)])
def test_spread_positions_are_different_and_fit(length: int, limit: int) -> None:
    places = spread(length, limit)
    assert list(places) == sorted(set(places))
    assert 0 <= places[0] <= places[-1] < limit
    assert length < limit or places == tuple(range(length))


@pytest.mark.parametrize(
    ("encoding", "family"),
    [*((name, "decoder") for name in ENCODINGS)]
    + [(name, family) for name in ("learned", "conv", "cope", "rope") for family in ("encoder", "encoder_decoder")],
)
def test_a_run_with_randomized_positions_trains_and_tests_longer(encoding: str, family: str) -> None:
    config = parse(
        {**SHORT, "pos_encoding": encoding, "family": family, "randomized_positions": 3, "test_lengths": "5,8"}
    )
    *_, last = train(config)
    assert isinstance(last, Finished)
    assert [("note" in row, "loss" in row) for row in last.by_length] == [(False, True)] * 2
    assert "written_accuracy" in last.metrics or family == "encoder"


def test_training_positions_change_validation_positions_stay_and_a_table_has_a_row_for_each() -> None:
    data = Data(parse({**SHORT, "randomized_positions": 3}))
    assert len({data.training_batch().positions for _ in range(10)}) > 5
    assert data.validation_batch().positions == data.validation_batch().positions == spread(9, 27)

    config = parse({**SHORT, "randomized_positions": 3, "test_lengths": "8"})
    assert shapes(config).of_model["max_positions"] == 3 * (2 * 8 - 1)
    assert shapes(config.replace(randomized_positions=1)).of_model["max_positions"] == 2 * 5 - 1


def test_positions_given_to_the_model_are_those_of_a_shifted_sequence() -> None:
    model = build_model(parse({"pos_encoding": "sinusoidal"}), n_tokens=11, n_outputs=10, max_positions=30)
    inputs = torch.randint(11, (2, 6))
    assert torch.equal(model(inputs, positions=tuple(range(4, 10))), model(inputs, first_position=4))
    assert not torch.allclose(model(inputs, positions=(0, 2, 1, 3, 4, 5)), model(inputs))


def test_dropping_all_positions_but_few_leaves_a_bag_of_symbols_in_training_only() -> None:
    config = parse({"family": "encoder", "position_dropout": 0.5, "batch_size": 400})
    batch = Data(config).training_batch()
    model = build_model(config, **shapes(config).of_model)
    blind = build_model(config.replace(pos_encoding="nope"), **shapes(config).of_model)
    blind.load_state_dict({name: value for name, value in model.state_dict().items() if "table" not in name})
    torch.manual_seed(0)
    out, without = forward(model, batch), forward(blind, batch)
    dropped = (out - without).abs().amax(dim=(1, 2)) < 1e-5
    assert dropped.float().mean().item() == pytest.approx(0.5, abs=0.08)
    assert not predictions(model, batch).equal(predictions(blind, batch))


def test_position_dropout_belongs_to_the_run() -> None:
    config = parse({**SHORT, "position_dropout": 0.5})

    def losses() -> list[float]:
        return [event.loss for event in train(config) if isinstance(event, Progress)]

    torch.manual_seed(1)
    first = losses()
    torch.manual_seed(2)
    assert losses() == first
    assert losses() != [e.loss for e in train(config.replace(position_dropout=0.0)) if isinstance(e, Progress)]


@pytest.mark.parametrize("encoding", ["sinusoidal", "learned", "rope"])
def test_memory_of_position_dropout_is_predicted(encoding: str) -> None:
    config = parse({**SHORT, "pos_encoding": encoding, "position_dropout": 0.5})
    sizes, batch = shapes(config), Data(config).training_batch()
    model = build_model(config, **sizes.of_model)

    def loss() -> torch.Tensor:
        return torch.nn.functional.cross_entropy(forward(model, batch).flatten(0, 1), batch.targets.flatten())

    loss()
    told = predict_memory(config, length=sizes.length, **sizes.of_model)
    assert told.saved == pytest.approx(saved_for_backward(model, loss)[1].total, rel=0.01)


def drawn_lengths(**settings: Any) -> torch.Tensor:
    data = Data(RunConfig().replace(task="k_back", k=1, batch_size=1, seq_len=8, min_seq_len=3, **settings))
    return torch.tensor([data.training_batch().inputs.size(1) for _ in range(1000)])


def test_the_law_of_lengths_sums_to_one_and_lengths_follow_it() -> None:
    config = RunConfig().replace(task="k_back", k=1, seq_len=8, min_seq_len=3)
    assert length_law(config) == pytest.approx(dict.fromkeys(range(3, 9), 1 / 6))
    assert sum(length_law(config.replace(length_decay=0.3)).values()) == pytest.approx(1)
    assert length_law(RunConfig()) == {6: 1.0}

    counts = drawn_lengths(length_decay=0.5).bincount(minlength=9)[3:] / 1000
    assert counts.tolist() == pytest.approx([2 ** -(n + 1) * 64 / 63 for n in range(6)], abs=0.05)
