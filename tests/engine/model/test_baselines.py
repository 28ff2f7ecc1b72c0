import pytest
import torch

from engine.config.run_config import parse
from engine.estimate.layout import continues
from engine.estimate.matching import matched_width, n_parameters
from engine.estimate.warnings import warnings_of
from engine.model.build import build_model
from engine.runs.events import Finished, Snapshot
from engine.settings.architectures import ARCHITECTURES, receptive_field
from engine.training.train import train
from tests.engine.tiny import N_TOKENS, tiny_config, tiny_model, tokens

BASELINES = [name for name, row in ARCHITECTURES.items() if not row.attends]
TRANSFORMER = {"task": "k_back", "k": 1, "seq_len": 16, "d_model": 24, "n_heads": 2, "n_layers": 2, "d_ff": 96}
DEPTHS = {"gru": 1, "lstm": 1, "cnn": 4}


@pytest.mark.parametrize("family", BASELINES)
def test_no_answer_depends_on_a_later_token(family: str) -> None:
    model, read = tiny_model(family=family, n_layers=3), tokens()
    other = read.clone()
    other[:, 6:] = (other[:, 6:] + 1) % N_TOKENS
    assert torch.allclose(model(read)[:, :6], model(other)[:, :6], atol=1e-12)
    assert not torch.allclose(model(read)[:, 6:], model(other)[:, 6:])


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_convolutions_see_exactly_their_receptive_field(n_layers: int) -> None:
    config = tiny_config(family="cnn", n_layers=n_layers)
    model, reach = tiny_model(family="cnn", n_layers=n_layers), receptive_field(config)
    hidden = model.embedding(tokens(20, batch=1)).detach().requires_grad_()
    model.body(hidden)[0, -1, 0].backward()
    touched = hidden.grad[0].abs().sum(-1) > 1e-12
    assert touched.tolist() == [False] * (20 - reach) + [True] * reach


@pytest.mark.parametrize("family", BASELINES)
def test_a_baseline_of_matched_width_is_within_three_percent(family: str) -> None:
    changes = {"family": family, "n_layers": DEPTHS[family]}
    matched = parse({**TRANSFORMER, **changes, "d_model": matched_width(TRANSFORMER, **changes)})
    assert n_parameters(matched) == pytest.approx(n_parameters(parse(TRANSFORMER)), rel=0.03)
    model = build_model(matched, n_tokens=10, n_outputs=10, max_positions=16)
    assert sum(p.numel() for p in model.parameters()) == n_parameters(matched)


def test_a_transformer_is_matched_at_a_width_that_its_heads_divide() -> None:
    wide = {**TRANSFORMER, "d_ff": None, "n_heads": 3, "d_model": 60}
    assert matched_width(wide, n_layers=1) % 3 == 0
    with pytest.raises(ValueError, match="target is"):
        matched_width({**wide, "d_model": 2046}, n_layers=1)


@pytest.mark.parametrize("family", BASELINES)
def test_a_run_shows_predictions_but_no_pattern(family: str) -> None:
    config = parse({"family": family, "steps": 3, "d_model": 8, "dropout": 0.2})
    events = list(train(config))
    snapshots = [event for event in events if isinstance(event, Snapshot)]
    assert snapshots
    assert all(snapshot.samples and not snapshot.patterns and not snapshot.encoding for snapshot in snapshots)
    assert isinstance(events[-1], Finished)
    assert continues(config)


def test_what_does_not_apply_is_said_and_does_not_stand_in_the_way() -> None:
    config = parse({"family": "gru", "d_model": 33, "n_heads": 2, "pos_encoding": "rope"})
    assert any("no attention" in sentence for sentence in warnings_of(config))
    near, far = (parse({"family": "cnn", "n_layers": depth, "seq_len": 6}) for depth in (3, 2))
    assert not any("convolutions see only" in sentence for sentence in warnings_of(near))
    assert any("the last 7 of 11 positions" in sentence for sentence in warnings_of(far))
