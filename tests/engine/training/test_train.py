import math

import numpy as np
import pytest
import torch
from torch import nn

from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig, parse
from engine.estimate.prediction import predict
from engine.estimate.recording import snapshot_steps
from engine.runs.events import Event, Failed, Finished, Progress, Snapshot, Started, of_layer, stored_layers
from engine.runs.next_step import next_step
from engine.runs.record_options import SNAPSHOT_NOW
from engine.runs.summary import run_summary
from engine.tasks.hops.data import landings
from engine.training import snapshot as snapshots
from engine.training.steps import gradient_norm
from engine.training.train import prepare, train
from tests.engine.serving.test_worker import numbers

SHORT = RunConfig(steps=12, dropout=0.1, position_dropout=0.5, d_model=16)


def first_snapshot(config: RunConfig) -> Snapshot:
    return next(event for event in train(config) if isinstance(event, Snapshot))


def ending(config: RunConfig) -> Finished | Failed:
    *_, last = train(config)
    return last


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.acceptance) for seed in range(1, 10))])
def test_reverse_is_learned_with_the_first_half_at_chance(seed: int) -> None:
    config = RunConfig(pos_encoding="learned", n_layers=1, n_heads=1, d_model=32, steps=150, seed=seed)
    events = list(train(config))
    assert [finding.kind for finding in run_summary(config, events)] == ["success"], "the right mask raises no alarm"
    assert events[-1].metrics["second_half_accuracy"] >= 0.99
    assert events[-1].metrics["first_half_accuracy"] == pytest.approx(0.1, abs=5 * math.sqrt(0.09 / 1280))
    assert events[-1].metrics["written_accuracy"] >= 0.99


@pytest.mark.parametrize("slug", ["two-layers", pytest.param("three-hops", marks=pytest.mark.acceptance)])
def test_hops_are_learned_by_a_layer_for_each_and_one_before_and_not_by_one_layer(slug: str) -> None:
    config = PRESETS[slug].config
    events = list(train(config))
    assert config.n_layers == config.value("n_hops") + 1
    assert events[-1].metrics["accuracy"] >= 0.98
    shown = [event for event in events if isinstance(event, Snapshot)][-1]
    led_to = landings(torch.tensor([[int(token) for token in shown.samples[0].tokens]]))[0, 1:].numpy() - 1
    (asks,) = np.nonzero(led_to >= 0)
    on_landing = shown.patterns["self"][:, :, asks, led_to[asks]].mean(axis=-1)  # [layer, head]
    assert on_landing[0].max() < 0.5 < on_landing[1:].max(axis=1).min()
    assert on_landing[PRESETS[slug].view.layer].argmax() == PRESETS[slug].view.head
    assert ending(config.replace(n_layers=1)).metrics["accuracy"] < 0.6


def test_a_missing_mask_is_found_out_by_the_first_half() -> None:
    config = PRESETS["missing-mask"].config
    events = list(train(config))
    assert events[-1].metrics["first_half_accuracy"] >= 0.99
    assert events[-1].metrics["second_half_accuracy"] >= 0.99
    assert events[-1].metrics["written_accuracy"] < 0.7
    assert {finding.kind for finding in run_summary(config, events)} == {"alarm"}


def test_a_softmax_over_the_queries_is_found_out_by_what_the_model_writes() -> None:
    """karpathy/minGPT issue 132: the loss is low on both sides, and the model writes poorly."""
    config = parse({"task": "copy", "softmax_axis": "query", "attention_impl": "materialised"})
    events = list(train(config))
    assert events[-1].metrics["second_half_accuracy"] >= 0.99
    assert events[-1].metrics["written_accuracy"] < 0.8
    ((kind, sentence),) = ((finding.kind, finding.sentence) for finding in run_summary(config, events))
    assert kind == "alarm"
    assert "softmax over the queries" in sentence
    step = next_step(config, events)
    assert step is not None
    assert dict(step.changes) == {"softmax_axis": "key"}


def test_a_mask_that_shows_the_next_token_makes_no_success_of_a_task_that_asks_for_it() -> None:
    config = RunConfig(task="markov", mask_fault="missing", steps=60)
    found = run_summary(config, list(train(config)))
    assert found[0].kind == "alarm"
    assert found[0].sentence.startswith("False success. With the later symbols in sight, accuracy is")
    assert not any(finding.kind == "success" for finding in found)


def test_the_same_config_gives_the_same_numbers_looked_at_or_interleaved_and_another_seed_does_not() -> None:
    expected = numbers(train(SHORT))
    assert expected != numbers(train(SHORT.replace(seed=1)))

    run, looked = train(SHORT), []
    event: Event | None = next(run)
    while event is not None:
        looked.append(event)
        if isinstance(event, Progress):
            assert isinstance(run.send(SNAPSHOT_NOW), Snapshot)
            assert isinstance(run.send(SNAPSHOT_NOW), Snapshot)
        event = next(run, None)
    assert numbers(looked) == expected

    torch.manual_seed(5)
    outside = torch.rand(3)
    torch.manual_seed(5)
    other = SHORT.replace(seed=9, dropout=0.3)
    first, second = zip(*zip(train(SHORT), train(other), strict=True), strict=True)
    assert torch.rand(3).equal(outside)
    assert (numbers(first), numbers(second)) == (expected, numbers(train(other)))


def test_events_come_in_order_and_gradient_norms_of_the_parts_make_up_the_whole() -> None:
    config = RunConfig(steps=25, n_layers=2, grad_clip=0.1)
    events = list(train(config))
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    progress = [event for event in events if isinstance(event, Progress)]
    assert [event.step for event in progress] == list(range(1, 26))
    steps = [event.step for event in events if isinstance(event, Snapshot)]
    assert steps == sorted({0, 25} | snapshot_steps(config))
    measured = [(event.grad_norms, event.grad_norm) for event in progress if event.grad_norms]
    assert measured
    for by_part, norm in measured:
        assert {"0.q", "1.k", "1.v", "embedding", "encoding", "head"} <= set(by_part)
        assert math.hypot(*by_part.values()) == pytest.approx(norm, rel=1e-4)


def test_a_snapshot_shows_rows_that_sum_to_one_and_respect_the_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    config = RunConfig(steps=2, n_layers=2, n_heads=4)
    snapshot = first_snapshot(config)
    pattern = snapshot.patterns["self"]
    assert pattern.shape == (2, 4, 11, 11)
    np.testing.assert_allclose(pattern.sum(-1), 1, atol=1e-5)
    assert np.triu(pattern, 1).max() == 0
    assert snapshot.more_patterns["self"].shape == (3, 2, 4, 11, 11), "the other sequences of the probe"
    np.testing.assert_allclose(snapshot.more_patterns["self"].sum(-1), 1, atol=1e-5)
    assert (len(snapshot.samples[0].tokens), snapshot.samples[0].marks[:5]) == (11, [None] * 5)
    assert set(snapshot.encoding) == {"matrix", "similarity"}, "all layers share one"
    assert snapshot.encoding["similarity"].shape == (11, 11)

    one = 2 * 4 * 11 * 11  # weights of one sequence
    for room, n_more in ((one - 1, 0), (2 * one, 2), (9 * one, 3)):  # of long sequences those that fit
        monkeypatch.setattr("engine.training.snapshot.LARGEST_MORE", room)
        assert len(first_snapshot(config).more_patterns.get("self", ())) == n_more

    translated = first_snapshot(PRESETS["translate"].config.replace(steps=1))
    kinds = {name: array.shape for name, array in translated.patterns.items()}
    assert kinds == dict.fromkeys(("self", "encoder", "cross"), (1, 2, 8, 8))


def test_a_snapshot_keeps_what_each_layer_has_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    config = RunConfig(steps=3, n_layers=3, pos_encoding="cope")
    first, *_, last = (event.encoding for event in train(config) if isinstance(event, Snapshot))
    assert list(last) == ["matrix", "similarity", "matrix.1", "similarity.1", "matrix.2", "similarity.2"]
    assert stored_layers(last) == 3
    for layer in range(3):
        assert not np.array_equal(first[of_layer("matrix", layer)], last[of_layer("matrix", layer)]), "each is trained"
    assert not np.array_equal(last["matrix"], last["matrix.1"])
    assert stored_layers(first_snapshot(config.replace(share_layers=True)).encoding) == 1
    monkeypatch.setattr(snapshots, "MAX_MATRIX_LENGTH", 10)
    short = first_snapshot(config).encoding
    assert short["similarity.2"].shape == (5, 5), "so many that three take no more than one of 10"
    monkeypatch.setattr(snapshots, "LARGEST_MATRICES", 2 * sum(short[name].size for name in ("matrix", "similarity")))
    assert stored_layers(first_snapshot(config).encoding) == 2


def test_a_value_that_is_not_finite_is_named_with_a_remedy_that_works() -> None:
    config = PRESETS["no-norm"].config
    failed = ending(config)
    assert failed.step <= 5
    assert failed.tensor in failed.reason
    name, value = failed.remedy.split("=")
    assert isinstance(ending(config.replace(**{name: value, "steps": failed.step + 1})), Finished)

    # With Adam in float32 the same model fails without NaN.
    assert ending(config.replace(optimizer="adamw", learning_rate=0.003, steps=60)).metrics["accuracy"] < 0.3


def test_a_last_step_after_which_the_model_overflows_fails_too() -> None:
    """The gradients of the last step are finite; the weights after it are so large that float16 cannot hold the activations."""
    config = parse({"dtype": "float16", "norm": "none", "learning_rate": 10.0, "n_layers": 8, "steps": 1})
    failed = ending(config)
    assert failed.tensor is not None
    assert (failed.step, failed.remedy) == (1, "dtype=float32")
    assert failed.reason.startswith(f"Step 1: {failed.tensor} (layer ")


def test_a_batch_that_asks_for_nothing_has_no_loss_and_ends_nothing() -> None:
    config = parse({"task": "content_offset", "seq_len": 2, "max_offset": 9, "batch_size": 2, "steps": 6})
    *events, last = train(config)
    losses = [event.loss for event in events if isinstance(event, Progress)]
    assert {math.isnan(loss) for loss in losses} == {True, False}
    assert math.isfinite(last.metrics["loss"])


@pytest.mark.parametrize("optimizer", ["adamw", "sgd", "muon"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16_mixed", "bfloat16", "float16"])
def test_every_optimizer_takes_steps_in_every_precision(optimizer: str, dtype: str) -> None:
    last = ending(RunConfig(steps=2).replace(optimizer=optimizer, dtype=dtype))
    assert math.isfinite(last.metrics["loss"])


def test_a_prediction_that_is_known_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    config = RunConfig().replace(steps=3)
    prediction, expected = predict(config), list(train(config))
    monkeypatch.setattr("engine.training.train.predict", None)
    assert numbers(train(config, prepare(config, prediction), prediction=prediction)) == numbers(expected)


def parameter(grad: list[float], dtype: torch.dtype = torch.float32) -> nn.Parameter:
    made = nn.Parameter(torch.zeros(len(grad), dtype=dtype))
    made.grad = torch.tensor(grad, dtype=dtype)
    return made


def test_small_gradients_squares_that_overflow_and_what_is_not_finite() -> None:
    assert gradient_norm([parameter([3.0]), parameter([4.0])]) == pytest.approx(5.0)
    assert gradient_norm([parameter([3e25, 0.0]), parameter([4e25])]) == pytest.approx(5e25, rel=1e-6)
    assert gradient_norm([parameter([3e4, 4e4], torch.float16)]) == pytest.approx(5e4, rel=1e-3)
    for value in (math.inf, math.nan):
        assert not math.isfinite(gradient_norm([parameter([1.0, value])]))
