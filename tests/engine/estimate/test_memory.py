import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.encoding_costs import cost_of
from engine.estimate.layout import Shapes
from engine.estimate.memory import count_parameters, has_formula, predict_memory
from engine.estimate.prediction import predict
from engine.model.build import build_model
from engine.tasks import TASKS
from engine.training.evaluation import forward, loss_of
from engine.training.measured_memory import SavedBytes, measure_memory, saved_for_backward
from engine.training.train import begin
from tests.engine.tiny import TODAY

# seq_len stands for the length the model reads
SHAPES = [
    {"batch_size": 4, "seq_len": 9, "d_model": 16, "n_heads": 2, "n_layers": 1},
    {"batch_size": 2, "seq_len": 24, "d_model": 8, "n_heads": 4, "n_layers": 2},
    {"batch_size": 3, "seq_len": 16, "d_model": 12, "n_heads": 1, "n_layers": 1, "d_head": 6, "d_ff": 20},
]
SIZES = Shapes(n_tokens=11, n_outputs=10, length=0, source_length=None, position_range=30)


def measured(config: RunConfig, *, source_length: int | None = None, padded: bool = False) -> SavedBytes:
    """The bytes that one step on random tokens saves for backward."""
    model = build_model(config, **SIZES.of_model)
    shape, source_shape = (config.batch_size, config.seq_len), (config.batch_size, source_length or 1)
    given: dict[str, Tensor] = {"inputs": torch.randint(11, shape)}
    if source_length is not None:
        given["source"] = torch.randint(11, source_shape)
    if padded:
        given["token_mask"] = torch.rand(shape) < 0.8
    targets = torch.randint(10, shape)

    def loss() -> Tensor:
        return cross_entropy(model(**given).float().flatten(0, 1), targets.flatten(), ignore_index=-100)

    loss()  # masks and tables are made once
    return saved_for_backward(model, loss)[1]


def assert_predicted(config: RunConfig, *, source_length: int | None = None, padded: bool = False) -> None:
    """Within 1 %, or not below if the encoding's memory was measured once; the scores' share to the byte."""
    sizes = replace(SIZES, length=config.seq_len, source_length=source_length, padded=padded)
    predicted = predict_memory(config, sizes)
    measurement = measured(config, source_length=source_length, padded=padded)
    cost = cost_of(config)
    assert predicted.saved is not None
    assert cost is not None
    if cost.kept:
        assert predicted.saved >= measurement.total, config.flat()
    else:
        assert predicted.saved == pytest.approx(measurement.total, rel=0.01), config.flat()
        assert predicted.scores == measurement.scores, config.flat()


def grid() -> Iterator[dict[str, Any]]:
    """norm x activation x skips x dropout x shape."""
    axes = itertools.product(("pre", "post", "none"), ("relu", "gelu", "none"), (True, False), (0.0, 0.1), SHAPES)
    for norm, activation, skips, dropout, shape in axes:
        yield {"norm": norm, "activation": activation, "skips": skips, "dropout": dropout, **shape}


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_saved_for_backward_is_predicted(name: str, impl: str) -> None:
    """The whole grid for one encoding; for the others every thirteenth of it."""
    for settings in itertools.islice(grid(), 0, None, 1 if name == "nope" else 13):
        config = parse({"pos_encoding": name, "attention_impl": impl, **settings})
        if has_formula(config):
            assert_predicted(config)
        else:
            predicted = predict_memory(config, replace(SIZES, length=config.seq_len))
            assert (predicted.saved, predicted.scores, predicted.total) == (None, None, None)


def test_only_designs_learned_biases_and_fused_attention_with_dropout_have_no_formula() -> None:
    without = {
        (name, impl, dropout)
        for name, impl, dropout in itertools.product(ENCODINGS, ("fused", "materialised"), (0.0, 0.1))
        if not has_formula(parse({"pos_encoding": name, "attention_impl": impl, "dropout": dropout}))
    }
    settings = {name: spec.settings() for name, spec in ENCODINGS.items()}
    fused = {name for name in ENCODINGS if not settings[name].needs_pattern}
    on_scores = {name for name in fused if ENCODINGS[name].acts_on == "scores"}
    biases = {name for name in on_scores if settings[name].parameter_shapes(RunConfig(), 8, True)}
    assert without == {
        *((name, "fused", 0.1) for name in fused),
        *((name, "fused", 0.0) for name in biases),
        *itertools.product(["designed"], ("fused", "materialised"), (0.0, 0.1)),
    }
    assert "shaw" not in fused
    assert "t5_bias" in biases
    assert not has_formula(parse({"pos_encoding": "shaw", "shaw_values": False}))
    assert not has_formula(parse({"pos_encoding": "shaw", "dropout": 0.1, "family": "encoder_decoder"}))


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_mixed_precision_is_predicted_too(name: str, impl: str) -> None:
    """Every thirteenth of the grid; also with shared layers, each of which keeps copies of the weights."""
    for number, settings in enumerate(itertools.islice(grid(), 3, None, 13)):
        shared = {"share_layers": number % 2 == 1}
        flat = {"pos_encoding": name, "attention_impl": impl, "dtype": "bfloat16_mixed", **shared, **settings}
        if has_formula(config := parse(flat)):
            assert_predicted(config)


@pytest.mark.parametrize("qk_norm", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16_mixed"])
@pytest.mark.parametrize("name", ["nope", "alibi", "shaw", "rope", "conv"])
def test_other_scores_families_faults_and_padding_are_predicted_too(name: str, dtype: str, qk_norm: bool) -> None:
    """All combinations without an encoding and in float32; of the others every fifth."""
    scores, families = ("scaled_dot", "dot", "cosine", "additive"), ("decoder", "encoder", "encoder_decoder")
    axes = itertools.product(scores, families, ("fused", "materialised"), ("key", "query"), (False, True))
    every = 1 if (name, dtype) == ("nope", "float32") else 5
    for score, family, impl, axis, padded in itertools.islice(axes, 0, None, every):
        if impl == "fused" and (axis == "query" or score == "additive"):
            continue
        if padded and family == "encoder_decoder":  # no task pads what it reads
            continue
        fault = {"mask_fault": "missing"} if padded and family == "decoder" else {}
        flat = {"pos_encoding": name, "family": family, "attention_score": score, "attention_impl": impl}
        config = parse({**flat, "softmax_axis": axis, "qk_norm": qk_norm, **SHAPES[1], **fault, "dtype": dtype})
        assert_predicted(config, source_length=7 if family == "encoder_decoder" else None, padded=padded)


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bfloat16_mixed"])
@pytest.mark.parametrize(
    "settings",
    [
        *({"norm_kind": "rms", "norm": norm, "qk_norm": norm == "post"} for norm in ("pre", "post", "none")),
        {"activation": "swiglu"}, {"kv_heads": 1, "attention_score": "cosine"}, {"kv_heads": 2, "qk_norm": True},
        {"depth_scale": True}, {"value_residual": 0.5}, {"value_residual": 1.0}, TODAY, {**TODAY, "family": "encoder_decoder"},
    ],
    ids=str,
)  # fmt: skip
def test_the_blocks_of_later_years_are_predicted_too(settings: dict[str, Any], dtype: str, impl: str) -> None:
    config = parse({"pos_encoding": "nope", **SHAPES[1], **settings, "dtype": dtype, "attention_impl": impl})
    assert_predicted(config, source_length=7 if config.family == "encoder_decoder" else None)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16_mixed"])
@pytest.mark.parametrize("name", ["nope", "alibi", "rope", "shaw"])
def test_softmax_plus_one_and_a_gate_are_predicted_too(name: str, dtype: str) -> None:
    families = ("decoder", "encoder", "encoder_decoder")
    kinds = ({"softmax_plus_one": True}, {"attention_gate": True}, {"softmax_plus_one": True, "attention_gate": True})
    for kind, family, impl, padded in itertools.product(kinds, families, ("fused", "materialised"), (False, True)):
        if padded and family == "encoder_decoder":
            continue
        config = parse(
            {"pos_encoding": name, "family": family, "attention_impl": impl, "dtype": dtype, **SHAPES[1], **kind}
        )
        assert_predicted(config, source_length=7 if family == "encoder_decoder" else None, padded=padded)


OPTIMIZED = ({}, {"family": "encoder_decoder", "pos_encoding": "rope"}, {"dtype": "bfloat16"},
             {"dtype": "bfloat16_mixed", "share_layers": True, "n_layers": 2}, {"family": "gru", "n_layers": 3},
             {"family": "lstm", "norm": "post"}, {"family": "cnn", "norm": "none"},
             {**TODAY, "n_heads": 4, "n_layers": 2}, {"family": "cnn", "norm_kind": "rms", "depth_scale": True})  # fmt: skip


@pytest.mark.parametrize(
    "flat",
    [
        *({"task": task, "family": family} for task, row in TASKS.items() for family in row.architectures),
        *({"optimizer": name, **flat} for name in ("adamw", "sgd", "muon") for flat in OPTIMIZED),
        *({"qk_norm": True, "optimizer": name, "family": "encoder_decoder"} for name in ("adamw", "muon")),
        *({"position_dropout": 0.5, "pos_encoding": name} for name in ("sinusoidal", "learned", "rope")),
        {"coupled_positions": True, "test_lengths": (20,)},
        *({"local_mix": 3, "n_layers": 2, "dtype": dtype} for dtype in ("float32", "bfloat16_mixed")),
        *({"local_mix": 2, "norm": norm, "family": "encoder_decoder"} for norm in ("pre", "post", "none")),
    ],
    ids=str,
)
def test_what_a_run_saves_and_keeps_is_predicted_to_the_byte(flat: dict[str, Any]) -> None:
    """On the batches of the run's data: every task in every family that has a formula, every optimizer after a step."""
    config = parse({"batch_size": 4, "device": "cpu", **flat})
    state, prediction = begin(config), predict(config)
    for _ in range(2):
        batch = state.upcoming(1)[0]
        measurement = measure_memory(state.model, batch, state.optimizers)
        assert prediction.memory.saved == (measurement.saved if has_formula(config) else None)
        loss_of(forward(state.model, batch).float(), batch.targets).backward()
        for optimizer in state.optimizers:
            optimizer.step()
    assert prediction.parameters == sum(p.numel() for p in state.model.parameters())
    measurement = measure_memory(state.model, batch, state.optimizers)
    fields = ("parameters", "gradients", "optimizer")
    assert [getattr(prediction.memory, name) for name in fields] == [getattr(measurement, name) for name in fields]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("changes", [{"share_layers": True, "residual_scale": 0.5}, {"mlp": False, "dropout": 0.2}])
def test_half_precision_is_predicted_too(dtype: str, changes: dict[str, Any]) -> None:
    for name, impl in itertools.product(("learned", "fourier", "mlp", "conv", "xpos"), ("fused", "materialised")):
        if impl == "materialised" or "dropout" not in changes:
            flat = {"pos_encoding": name, "dtype": dtype, "attention_impl": impl}
            assert_predicted(parse({**flat, **SHAPES[1], **changes}))


def test_a_block_is_as_the_published_formulas_say() -> None:
    """4[(8 + 2f) N d + 4 N + batch h T^2] for a pre-LN block with GELU; fused has T for T^2."""
    shape = {"batch_size": 2, "seq_len": 24, "d_model": 32, "n_heads": 4, "d_ff": 128}
    tokens = 2 * 24
    for impl, per_query in (("materialised", 24), ("fused", 1)):
        configs = (parse({**shape, "n_layers": n, "attention_impl": impl}) for n in (1, 2))
        one, two = (predict_memory(config, replace(SIZES, length=24)).saved for config in configs)
        assert two - one == 4 * ((8 + 2 * 4) * tokens * 32 + 4 * tokens + 2 * 4 * 24 * per_query)


@pytest.mark.parametrize("name", ENCODINGS)
def test_parameters_are_counted(name: str) -> None:
    """All combinations without an encoding; with one every thirteenth of them."""
    families, norms = ("decoder", "encoder", "encoder_decoder"), ("pre", "post", "none")
    axes = itertools.product(families, (True, False), norms, (True, False), ("dot", "additive"), (True, False))
    for family, share, norm, mlp, score, qk_norm in itertools.islice(axes, 0, None, 1 if name == "nope" else 13):
        flat = {
            "pos_encoding": name,
            "family": family,
            "norm": norm,
            "mlp": mlp,
            "attention_score": score,
            "qk_norm": qk_norm,
        }
        config = parse({**flat, "share_layers": share, "n_layers": 3, "d_head": 6, "attention_impl": "materialised"})
        parts = count_parameters(config, SIZES)
        model = build_model(config, **SIZES.of_model)
        assert sum(parts.values()) == sum(parameter.numel() for parameter in model.parameters()), config.flat()
        encodings = sum(p.numel() for n, p in model.named_parameters() if ".encodings." in n)
        assert parts.get("encoding", 0) == encodings, config.flat()
