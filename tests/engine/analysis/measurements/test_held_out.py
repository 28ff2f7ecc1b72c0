import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from engine.analysis.encodings.distances import order
from engine.analysis.measurements import held_out, positions
from engine.analysis.measurements.held_out import decorrelated, exposures, other_text, shuffle_meters
from engine.analysis.measurements.positions import FITTED, JUDGED, LENGTHS, accuracy, error, position_probe
from engine.config.run_config import RunConfig, parse
from engine.encodings.base.layer import cosines
from engine.runs.record_options import RecordOptions
from engine.tasks.key_token.data import shortcut_answers
from engine.tasks.text import user_texts
from engine.training.data import Data
from engine.training.train import train
from tests.engine.tiny import as_trained

KEYED = {"task": "key_token", "family": "encoder", "seq_len": 16, "shortcut": 0.9}


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


def test_a_model_that_goes_by_position_is_found_out_and_one_that_follows_the_rule_is_cleared() -> None:
    by_position, by_rule = (as_trained(model, **KEYED) for model in (ByPosition(), ByRule()))
    found = shuffle_meters(by_position)
    assert found["unchanged_by_content"] == 1.0
    assert 0.1 < found["unchanged_by_positions"] < 0.5
    assert decorrelated(by_position)["decorrelated_accuracy"] == pytest.approx(0.25, abs=0.03)

    found = shuffle_meters(by_rule)
    assert found["unchanged_by_content"] == pytest.approx(0.25, abs=0.03)
    assert found["unchanged_by_positions"] == 1.0
    assert decorrelated(by_rule)["decorrelated_accuracy"] == 1.0


@pytest.mark.parametrize(
    "settings",
    [{"family": "encoder_decoder"}, {"randomized_positions": 2}, {"task": "own_position", "variant": "padded"}],
)
def test_the_meters_work_in_every_framing(settings: dict[str, Any]) -> None:
    assert all(0 <= share <= 1 for share in shuffle_meters(as_trained(seq_len=5, **settings)).values())


def test_accuracy_is_pooled_over_positions_of_like_exposure() -> None:
    lengths = {"seq_len": 20, "min_seq_len": 10, "length_decay": 0.5}
    case = as_trained(KnowsTheFront(), task="k_back", k=1, **lengths, steps=100, batch_size=32)
    found = held_out.accuracy_by_position(case)
    assert found.pop("accuracy_seen_3000_to_10000") == 1.0
    assert found == dict.fromkeys(found, 0.0)
    assert "accuracy_seen_1000_to_3000" in found
    bands = {29.9: "0_to_30", 30: "30_to_100", 1e12: "from_100000"}
    assert [held_out.exposure_name(times) for times in bands] == [f"accuracy_seen_{name}" for name in bands.values()]


def test_exposures_are_what_the_data_show_and_a_continuing_decoder_reads_twice_as_far() -> None:
    config = parse({"task": "k_back", "k": 1, "seq_len": 8, "min_seq_len": 3, "length_decay": 0.7, "steps": 1000})
    data = Data(config.replace(batch_size=1))
    lengths = torch.tensor([data.training_batch().inputs.size(1) for _ in range(1000)])
    counted = [32 * int((lengths > position).sum()) for position in range(8)]
    assert exposures(config) == pytest.approx(counted, rel=0.25)
    assert exposures(RunConfig(seq_len=4, steps=10, batch_size=2)) == [20.0] * 7


def test_memory_of_random_letters_flatters_and_a_task_without_text_is_refused(own_data_folder: Path) -> None:
    text = user_texts.keep("".join(random.Random(0).choices("abcdefgh", k=3000)).encode())
    flat = {"task": "shakespeare_chars", "text": text, "seq_len": 16, "vocab_size": 9, "steps": 150}
    flat |= {"text_tokens": 256, "windows": "non_overlapping", "d_model": 32}
    case = as_trained(**flat, split="none")
    for _ in train(case.config, case.model, RecordOptions(snapshots=False, evaluations=1, memory=False)):
        pass
    memorised = other_text(case)
    assert memorised["other_text.loss"] > 2.0, "nobody can know random letters: ln 8 = 2.08"
    assert memorised["other_text.flattery"] > 0.5
    assert other_text(as_trained(**flat))["other_text.flattery"] == 0.0
    with pytest.raises(ValueError, match="task is reverse; for other_text it must be"):
        other_text(as_trained())


LENGTH, WIDTH = 12, 24


def noise(std: float = 1.0) -> Tensor:
    """[sequence, position, d_model]"""
    generator = torch.Generator().manual_seed(0)
    return std * torch.randn(FITTED + JUDGED, LENGTH, WIDTH, generator=generator).double()


def split(stream: Tensor) -> tuple[Tensor, Tensor]:
    return stream[:FITTED], stream[FITTED:]


def test_a_position_written_on_one_dimension_is_read_and_noise_at_chance_by_sequences_it_was_not_fitted_on() -> None:
    stream = noise(0.05)
    stream[..., 3] += torch.arange(LENGTH)  # in order on one line: the case in which least squares hides the middle
    assert accuracy(*split(stream)) == 1.0
    assert error(*split(stream)) < 0.1

    assert accuracy(*split(noise())) == pytest.approx(1 / LENGTH, abs=0.04)
    assert error(*split(noise())) == pytest.approx(LENGTH / 4, rel=0.1)
    judged_on_itself = accuracy(noise()[:20], noise()[:20])
    assert judged_on_itself > 3 / LENGTH


def test_the_discriminants_agree_with_the_gaussians_they_come_from() -> None:
    means = torch.randn(LENGTH, WIDTH, generator=torch.Generator().manual_seed(1)).double()
    scales = torch.linspace(0.2, 3, WIDTH, dtype=torch.float64)
    fitted, judged = split(noise() * scales + means)
    distances = ((judged[:, :, None] - means) / scales).square().sum(-1)  # [sequence, position, class]
    best = (distances.argmin(-1) == torch.arange(LENGTH)).double().mean().item()
    assert 0.5 < best < 1.0
    assert accuracy(fitted, judged) == pytest.approx(best, abs=0.03)


@pytest.mark.parametrize(("encoding", "readable"), [("learned", True), ("nope", False), ("rope", False)])
def test_layer_zero_has_the_position_where_it_is_added(encoding: str, readable: bool) -> None:
    case = as_trained(task="k_back", family="encoder", seq_len=LENGTH, n_layers=2, pos_encoding=encoding)
    before = [p.clone() for p in case.model.parameters()]
    found = position_probe(case)
    assert set(found) == {f"position_{kind}.{layer}" for kind in ("probe", "error") for layer in range(3)}
    assert (found["position_probe.0"] > 0.9) if readable else (found["position_probe.0"] < 2 / LENGTH)
    assert position_probe(case) == found
    assert case.model.training
    assert all(a.equal(b) for a, b in zip(before, case.model.parameters(), strict=True))


def test_an_encoder_decoder_is_probed_where_it_writes() -> None:
    case = as_trained(task="copy", family="encoder_decoder", seq_len=6, n_layers=2)
    assert position_probe(case)["position_probe.0"] > 0.9


def test_a_sinusoid_looks_the_same_at_every_length_and_others_as_far_as_they_have_rows() -> None:
    def measured(encoding: str) -> dict[str, float]:
        return positions.neighbour_cosine(as_trained(task="k_back", seq_len=8, pos_encoding=encoding, d_model=32))

    found = measured("sinusoidal")
    frequencies = 10_000.0 ** -(torch.arange(16).double() / 16)
    for n in LENGTHS:
        assert found[f"neighbour_cosine@{n}"] == pytest.approx(frequencies.cos().mean().item(), abs=1e-6)
        angles = (torch.arange(n) * positions.SQUEEZED / n)[:, None] * frequencies
        rows = torch.cat([angles.sin(), angles.cos()], 1)
        neighbours = torch.cosine_similarity(rows[1:], rows[:-1])
        assert found[f"squeezed_cosine@{n}"] == pytest.approx(neighbours.mean().item(), abs=1e-9)
    assert measured("nope") == {f"neighbour_cosine@{n}": 1.0 for n in LENGTHS}
    assert set(measured("learned")) == {"neighbour_cosine@8"}


def test_structure_is_one_along_a_line_of_angles_about_zero_in_random_rows_and_of_a_learned_table_only() -> None:
    angles = torch.arange(24).double() * 0.05
    fan = torch.stack([angles.cos(), angles.sin()], dim=1)
    assert order(cosines(fan).numpy()) == pytest.approx(1, abs=0.05)
    assert order(cosines(fan[torch.randperm(24)]).numpy()) < 0.5
    rows = torch.randn(64, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert order(cosines(rows).numpy()) == pytest.approx(0, abs=0.1)

    for encoding, numbers in (("learned", {"table_structure", "table_norm"}), ("rope", set[str]())):
        assert set(positions.table_structure(as_trained(pos_encoding=encoding, d_model=16))) == numbers
