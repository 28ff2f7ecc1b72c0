"""Mixed precision in every encoding and family: close to float32 and not equal. TF32 by stand-ins for a CUDA device."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import keeps_past
from engine.model.activations import ActivationCache
from engine.model.build import in_single, save_weights, trained_model
from engine.model.precision import TF32, in_input_precision, set_tf32, tf32_note
from engine.runs.events import Progress, Started
from engine.runs.record_options import LEAST_RECORD
from engine.training.evaluation import forward
from engine.training.train import begin, train
from engine.training.writing import reader
from tests.engine.tiny import as_trained

MIXED = {"dtype": "bfloat16_mixed"}
SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "batch_size": 8, "steps": 2, "device": "cpu"}
KINDS: list[dict[str, Any]] = [
    *({"pos_encoding": name} for name in ENCODINGS),
    *({"pos_encoding": name, "family": "encoder_decoder"} for name in ("nope", "rope", "alibi", "learned")),
    *({"pos_encoding": name, "attention_impl": "materialised"} for name in ENCODINGS),
    *({"attention_impl": "materialised", "attention_score": score} for score in ("additive", "cosine", "dot")),
    {"attention_score": "cosine", "pos_encoding": "rope"}, {"attention_impl": "materialised", "softmax_axis": "query"},
    {"norm": "none", "skips": False}, {"norm": "post", "dropout": 0.1}, {"share_layers": True, "optimizer": "muon"},
    {"task": "k_back", "tie_embeddings": True, "token_init_std": 0.1}, {"family": "gru"}, {"family": "lstm"},
    {"family": "cnn"}, {"family": "encoder"}, {"task": "own_position", "variant": "padded", "family": "encoder", "pos_encoding": "conv"},
]  # fmt: skip


def losses(**settings: Any) -> list[float]:
    events = train(parse({**SMALL, **settings}), record=LEAST_RECORD)
    return [event.loss for event in events if isinstance(event, Progress)]


@pytest.mark.parametrize("settings", KINDS, ids=str)
def test_two_steps_in_mixed_precision_are_close_to_float32_and_not_the_same(settings: dict[str, Any]) -> None:
    exact, mixed = losses(**settings), losses(**settings, **MIXED)
    assert mixed == pytest.approx(exact, rel=5e-3)
    assert mixed != exact


def test_weights_gradients_and_optimizer_are_float32_and_products_bfloat16() -> None:
    state, cache = begin(parse({**SMALL, **MIXED, "attention_impl": "materialised"})), ActivationCache()
    forward(state.model, state.upcoming(1)[0], cache).float().sum().backward()
    for optimizer in state.optimizers:
        optimizer.step()
    states = [value for optimizer in state.optimizers for one in optimizer.state.values() for value in one.values()]
    gradients = [parameter.grad for parameter in state.model.parameters()]
    assert {tensor.dtype for tensor in (*state.model.parameters(), *gradients, *states)} == {torch.float32}
    half = {name.split(".")[-1] for name, tensor in cache.items() if tensor.dtype == torch.bfloat16}
    assert half >= {"q", "k", "v", "scores", "hidden", "logits"}
    between = {name for name in cache if name.endswith(("pattern", "embedding")) or name.count(".") == 2}
    assert {cache[name].dtype for name in between} == {torch.float32}


@pytest.mark.parametrize(
    ("name", "family"),
    [*itertools.product(ENCODINGS, ("decoder", "encoder_decoder")), ("nope", "gru"), ("nope", "lstm")],
)
@torch.no_grad()
def test_what_is_read_token_by_token_is_close_to_whole_passes(name: str, family: str) -> None:
    case = as_trained(seq_len=5, pos_encoding=name, family=family, **{**SMALL, **MIXED})
    model, batch = case.model.eval(), case.data.validation_batch(size=8)
    assert keeps_past(case.config)
    read = reader(case.config, model, batch)
    for end in range(3, batch.inputs.size(1) + 1):
        whole = forward(model, replace(batch, inputs=batch.inputs[:, :end]))[:, -1]
        now = read(batch.inputs[:, :end])
        assert now.dtype == whole.dtype == torch.bfloat16
        assert torch.allclose(now, whole, atol=0.06)


@torch.no_grad()
def test_the_head_reads_any_layer_in_the_precision_of_the_run(tmp_path: Path) -> None:
    """As do weights that were stored. A question's model computes in single precision."""
    case, cache = as_trained(**{**SMALL, **MIXED}), ActivationCache()
    batch = case.data.validation_batch(size=4)
    logits = forward(case.model.eval(), batch, cache)
    assert case.model.logits_of(cache["decoder.1.out"]).equal(logits)
    save_weights(case.model, file := tmp_path / "weights.safetensors")
    stored = trained_model(case.config, file)
    assert forward(stored, batch).equal(forward(case.model, batch))
    single = forward(in_single(case.model), batch)
    assert single.dtype == torch.float32
    assert 0 < (single - logits).abs().max() < 0.1


def on(device: str, **settings: Any) -> Any:
    weight = SimpleNamespace(device=torch.device(device))
    return SimpleNamespace(config=parse(settings), head=SimpleNamespace(weight=weight))


@pytest.fixture
def switches() -> Iterator[None]:
    found = torch.backends.cuda.matmul, torch.backends.cudnn.conv, torch.backends.cudnn.rnn
    before = [switch.fp32_precision for switch in found]
    yield
    for switch, value in zip(found, before, strict=True):
        switch.fp32_precision = value


@pytest.mark.usefixtures("switches")
def test_each_run_sets_tf32_as_it_asks_and_a_cpu_never() -> None:
    @in_input_precision
    def precisions(model: Any) -> tuple[str, ...]:
        backends = torch.backends.cuda.matmul, torch.backends.cudnn.conv, torch.backends.cudnn.rnn
        return tuple(backend.fp32_precision for backend in backends)

    on_cpu = torch.backends.mkldnn.matmul.fp32_precision
    set_tf32(False)
    assert precisions(on("cpu")) == ("ieee",) * 3
    for allowed in (True, False, True):
        assert precisions(on("cuda", tf32=allowed)) == ("tf32" if allowed else "ieee",) * 3
    assert precisions(on("cpu", tf32=False)) == ("tf32",) * 3
    assert torch.backends.mkldnn.matmul.fp32_precision == on_cpu


def test_autocast_keeps_no_weights_that_a_captured_graph_would_hold() -> None:
    @in_input_precision
    def precisions(model: Any) -> tuple[bool, bool]:
        return torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled()

    assert precisions(on("cpu", **MIXED)) == (True, False)
    assert not precisions(on("cpu"))[0]


def test_a_run_says_that_it_uses_tf32(monkeypatch: pytest.MonkeyPatch) -> None:
    has = [True]
    monkeypatch.setattr(torch.cuda, "is_tf32_supported", lambda: has[0])
    cuda, cpu = torch.device("cuda"), torch.device("cpu")
    assert tf32_note(RunConfig(), cuda) == TF32
    others = (tf32_note(parse({"tf32": False}), cuda), tf32_note(parse(MIXED), cuda), tf32_note(RunConfig(), cpu))
    assert others == ("", "", "")
    has[0] = False
    assert tf32_note(RunConfig(), cuda) == ""
    monkeypatch.setattr("engine.training.train.tf32_note", lambda config, device: f"TF32 on {device}.")
    started = next(event for event in train(parse(SMALL)) if isinstance(event, Started))
    assert started.note.endswith("TF32 on cpu.")
