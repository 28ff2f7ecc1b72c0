"""One visit of each kind, against the formulas; and what it leaves behind."""

import pytest
import torch

from engine.estimate.by_length import cache_bytes_at, memory_at
from engine.estimate.layout import shapes
from engine.estimate.matching import n_parameters
from engine.model import masks
from engine.model.build import build_model
from engine.model.masks import causal_mask
from engine.sweeps import KINDS, measure
from engine.sweeps.measure import machine, next_token, random_batch, visit
from engine.sweeps.plan import read_plan

CPU = torch.device("cpu")
PLAN = read_plan({"d_model": 8, "n_heads": 2, "n_layers": 2, "batch_size": 2})


@pytest.fixture(autouse=True)
def _times_are_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "MAX_SECONDS", 0.0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16_mixed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_visit_measures_what_the_formulas_say(kind: str, dtype: str) -> None:
    config = PLAN.config(kind, 64).replace(dtype=dtype)
    seen = visit(config, 65, kind=kind, place=65, round=0, device="cpu", count_bytes=True)
    told = memory_at(config, 65)
    assert (seen.kind, seen.place, seen.width, seen.parameters) == (kind, 65, config.d_model, n_parameters(config))
    assert (seen.memory.parameters, seen.memory.gradients) == (told.parameters, told.gradients)
    assert seen.memory.optimizer == told.optimizer
    if told.saved is not None:
        assert (seen.memory.saved, seen.memory.scores) == (told.saved, told.scores)
    assert seen.memory.peak > (seen.memory.total or 0) - seen.memory.gradients
    assert 0 < (seen.inference_peak or 0) < seen.memory.peak
    assert min(seen.train, seen.inference) > 0
    assert (seen.cached is not None) == KINDS[kind].keeps
    if kind == "fused":
        assert seen.cache_bytes == cache_bytes_at(config, 65)


def test_lengths_beyond_those_of_a_run_are_counted_to_the_byte_and_a_further_visit_takes_only_the_time() -> None:
    plan = read_plan({"d_model": 8, "n_heads": 1})
    config = plan.config("materialised", 64)
    seen = visit(config, 1100, kind="materialised", place=1100, round=0, device="cpu", count_bytes=True)
    assert seen.memory.saved == memory_at(config, 1100).saved

    seen = visit(PLAN.config("fused", 64), 64, kind="fused", place=64, round=1, device="cpu", count_bytes=False)
    assert seen.memory is seen.inference_peak is seen.cache_bytes is None
    assert seen.train > 0


@pytest.mark.parametrize(("kind", "vectors"), [("gru", 1), ("lstm", 2)])
def test_a_recurrent_net_keeps_its_state_whatever_the_length(kind: str, vectors: int) -> None:
    config = PLAN.config(kind, 64)
    sizes = shapes(config)
    model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=64)
    for length in (2, 50):
        step = next_token(model, random_batch(2, length, sizes.n_tokens, sizes.n_outputs).inputs)
        assert step() == vectors * 2 * 2 * config.d_model * 4  # layers x batch


def test_a_fused_triangle_makes_no_matrix_and_masks_are_forgotten() -> None:
    config = PLAN.config("fused", 64)
    visit(config, 96, kind="fused", place=96, round=0, device="cpu", count_bytes=True)
    mask = causal_mask(96, "none", None, CPU, torch.float32)
    assert "bias" not in vars(mask)
    sizes = shapes(config)
    model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=96)
    model(random_batch(1, 96, sizes.n_tokens, sizes.n_outputs).inputs)
    assert "bias" not in vars(mask), "a fused kernel knows the triangle"
    assert mask.bias.shape == (96, 96)
    masks.forget_masks()
    assert causal_mask(96, "none", None, CPU, torch.float32) is not mask


def test_the_machine_is_named_and_an_accelerator_that_is_not_there_is_refused() -> None:
    found = machine("cpu")
    assert found.kind == "cpu"
    assert found.free > 0
    assert found.device
    if not torch.accelerator.is_available():
        with pytest.raises(ValueError, match="device is accelerator; this machine has only a CPU"):
            machine("accelerator")


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without oneDNN")
def test_an_lstm_layer_is_one_call_for_a_whole_sequence_and_a_gru_many_for_each_token() -> None:
    """What the page on memory and time says of the two lines."""

    def calls(kind: str, length: int) -> tuple[int, int]:
        config, inputs = PLAN.config(kind, 64), torch.zeros(1, length, dtype=torch.long)
        sizes = shapes(config)
        model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=length)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
            model(inputs)
        counts = {row.key: row.count for row in seen.key_averages()}
        return sum(counts.values()), counts.get("aten::mkldnn_rnn_layer", 0)

    (short, layers), (long, again) = calls("lstm", 16), calls("lstm", 80)
    assert layers == again == PLAN.n_layers
    assert long == short
    (short, none), (long, _) = calls("gru", 16), calls("gru", 80)
    assert none == 0
    assert long - short > 10 * 64 * PLAN.n_layers, "more than ten for each token and layer"
