"""Lengths and sizes beyond those of a run: well-known models against what is published, and the longest sequence that fits."""

from dataclasses import asdict

import pytest

from engine.estimate import at_scale
from engine.estimate.at_scale import PRECISIONS, WELL_KNOWN, Published, activation_bytes, longest_written, takes
from engine.estimate.by_length import cache_bytes_at, flops_at, longest, longest_in_time, longest_that_fits, memory_at
from engine.estimate.frames import models_frame
from engine.estimate.prediction import predict
from engine.estimate.speed import Speed
from engine.sweeps.plan import read_plan

GIB = 2**30
MODELS = list(WELL_KNOWN.values())
GPT2 = [model for model in MODELS if not model.gated]
BF16 = PRECISIONS["bf16"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.slug)
def test_the_sizes_give_the_published_number_of_parameters(model: Published) -> None:
    assert at_scale.count_weights(model) == model.parameters


@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=list(PRECISIONS))
def test_training_state_is_sixteen_bytes_a_parameter(precision: object) -> None:
    one = takes(WELL_KNOWN["llama2-7b"], precision, 1)  # type: ignore[arg-type]
    assert one.weights + one.gradients + one.optimizer == 16 * one.parameters


@pytest.mark.parametrize("model", GPT2, ids=lambda model: model.slug)
@pytest.mark.parametrize(("length", "batch"), [(1024, 1), (300, 4)])
def test_activations_are_those_of_korthikanti(model: Published, length: int, batch: int) -> None:
    s, b, h, a, v, layers = length, batch, model.width, model.heads, model.vocabulary, model.layers
    told = layers * s * b * h * (34 + 5 * a * s / h) + 4 * s * b * h * (1 + v / h)
    assert activation_bytes(model, BF16, s, b, written=True) == pytest.approx(told, rel=1e-12)
    fused = activation_bytes(model, BF16, s, b, written=False)
    assert fused == pytest.approx(told - layers * 5 * a * s * s * b + layers * 4 * s * b * a, rel=1e-12)


def test_the_cache_of_a_token() -> None:
    for name, kib in {"gpt2-124m": 36, "llama2-7b": 512, "llama3-8b": 128, "llama3-70b": 320}.items():
        assert at_scale.cache_bytes(WELL_KNOWN[name], BF16) == kib * 1024, name
        assert at_scale.cache_bytes(WELL_KNOWN[name], PRECISIONS["fp32"], 10) == 20 * kib * 1024, name


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.slug)
@pytest.mark.parametrize("written", [True, False])
def test_activations_grow_with_the_length_as_the_implementation_says(model: Published, written: bool) -> None:
    long, longer = (activation_bytes(model, BF16, n, written=written) for n in (2**20, 2**21))
    assert longer / long == pytest.approx(4 if written else 2, rel=0.05)


def test_the_longest_that_fits() -> None:
    small, large = WELL_KNOWN["gpt2-124m"], WELL_KNOWN["llama3-70b"]
    for written in (True, False):
        found = at_scale.longest_trained(small, BF16, 16 * GIB, written=written)
        sizes = [takes(small, BF16, found + more, written=written).training for more in (0, 1)]
        assert sizes[0] <= 16 * GIB < sizes[1]
    assert at_scale.longest_trained(large, BF16, 80 * GIB, written=False) == 0
    assert longest_written(large, BF16, 80 * GIB) == 0
    tokens = longest_written(WELL_KNOWN["llama3-8b"], BF16, 24 * GIB, batch=2)
    assert tokens == (24 * GIB - 2 * 8_030_261_248) // (2 * 128 * 1024)


def test_a_row_for_each_model_with_every_byte_also_above_64_bits() -> None:
    frame = models_frame(WELL_KNOWN.values(), "fp32", batch=3, written=True)
    assert list(frame["model"]) == list(WELL_KNOWN)
    for row in frame.to_dict("records"):
        model = WELL_KNOWN[row["model"]]
        found = takes(model, PRECISIONS["fp32"], model.context, 3, written=True)
        assert row == {
            "model": model.slug, "precision": "fp32", "context": model.context, **asdict(found),
            "training": found.training, "writing": found.writing,
        }  # fmt: skip

    model = WELL_KNOWN["llama3-70b"]
    frame = models_frame([model], "bf16", context=10_000_000, batch=4096, written=True)
    found = takes(model, PRECISIONS["bf16"], 10_000_000, 4096, written=True)
    assert found.activations > 2**64
    assert frame["activations"][0] == found.activations


@pytest.mark.parametrize("power", [1.0, 1.7, 2.0])
@pytest.mark.parametrize("allowed", [0.5, 1.0, 999.0, 12345.6])
def test_the_longest_is_allowed_and_one_more_is_not(power: float, allowed: float) -> None:
    found = longest(lambda n: float(n**power), allowed)
    assert found**power <= allowed < (found + 1) ** power


@pytest.mark.parametrize("kind", ["materialised", "fused"])
def test_the_longest_that_fits_uses_the_memory_up(kind: str) -> None:
    config, room = read_plan({"batch_size": 3}).config(kind, 64), 2**30
    found = longest_that_fits(config, room)
    assert (memory_at(config, found).total or 0) <= room < (memory_at(config, found + 1).total or 0)


def test_the_longest_in_time_is_limited_by_the_arithmetic_and_without_a_formula_there_is_none() -> None:
    config, speed = read_plan({}).config("fused", 64), Speed(overhead=1e-4, rate=1e10)
    found = longest_in_time(config, 1.0, speed)
    assert speed.seconds_on(config, flops_at(config, found), config.batch_size, found) <= 1.0
    assert speed.seconds_on(config, flops_at(config, found + 1), config.batch_size, found + 1) > 1.0

    config = read_plan({}).config("gru", 64)
    assert longest_that_fits(config, 2**30) is None
    assert longest_in_time(config, 1.0, Speed(1e-4, 1e10)) is None
    assert longest_in_time(read_plan({}).config("fused", 64), 1.0, None) is None


def test_at_a_runs_own_length_it_is_the_runs_prediction_and_the_cache_grows_by_two_vectors() -> None:
    config = read_plan({"n_layers": 2}).config("fused", 64).replace(seq_len=200)
    told = predict(config)
    assert (memory_at(config, 200), flops_at(config, 200)) == (told.memory, told.flops_per_step)

    config = read_plan({"d_model": 48, "n_layers": 3, "batch_size": 2}).config("fused", 64)
    assert cache_bytes_at(config, 101) - cache_bytes_at(config, 100) == 2 * (2 * 3 * 48 * 4)
