"""Answers written token by token: the numbers of whole passes, whatever is kept of the past; and time for others between."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.architectures import ARCHITECTURES
from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import continues, keeps_past, shapes
from engine.model.build import build_model
from engine.runs.events import Finished, Measuring, Progress
from engine.training.data import Batch, Data
from engine.training.evaluation import forward
from engine.training.train import train
from engine.training.writing import generation_accuracy, reader

N = 5


def ready(**settings: Any) -> tuple[RunConfig, nn.Module, Batch]:
    """A config, its untrained model and a batch, in double precision, so that no near tie is decided by rounding."""
    config = parse({"seq_len": N, "d_model": 16, "n_heads": 2, "n_layers": 2, **settings})
    model = build_model(config, **shapes(config).of_model).double().eval()
    return config, model, Data(config).validation_batch(size=8)


def returned(work: Generator[Measuring, None, float]) -> tuple[float, int]:
    """What a generator returns, and how often it yielded."""
    yields = 0
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, yields
        yields += 1


@torch.no_grad()
def written_with_whole_passes(model: nn.Module, batch: Batch, first: int) -> Tensor:
    """The reference: a pass over everything so far for each token, [batch, length]."""
    inputs, written = batch.inputs.clone(), torch.zeros_like(batch.targets)
    for position in range(first, inputs.size(1)):
        at = None if batch.positions is None else batch.positions[: position + 1]
        prefix = replace(batch, inputs=inputs[:, : position + 1], positions=at)
        written[:, position] = forward(model, prefix)[:, -1].argmax(-1)
        if position + 1 < inputs.size(1):
            inputs[:, position + 1] = written[:, position]
    return written[:, first:]


CASES: list[dict[str, Any]] = [
    *({"pos_encoding": name} for name in ENCODINGS),
    *({"pos_encoding": name, "family": "encoder_decoder"} for name in ENCODINGS),
    *({"family": name} for name, row in ARCHITECTURES.items() if not row.attends),
    {"family": "cnn", "n_layers": 1},
    *({"mask_fault": fault} for fault in ("missing", "transposed", "off_by_one")),
    {"softmax_axis": "query", "attention_impl": "materialised"},
    {"randomized_positions": 4, "pos_encoding": "alibi"},
    {"randomized_positions": 4, "pos_encoding": "learned", "family": "encoder_decoder"},
    {"share_layers": True, "norm": "post", "attention_score": "cosine"},
]


@pytest.mark.parametrize("settings", CASES, ids=str)
def test_answers_and_logits_are_those_of_whole_passes(settings: dict[str, Any]) -> None:
    config, model, batch = ready(**settings)
    first = N - 1 if continues(config) else 0
    expected = written_with_whole_passes(model, batch, first)
    targets = batch.targets.clone()
    targets[:4, first:] = expected[:4]  # half of the sequences are answered right by definition
    targets[4:, first:] = (expected[4:] + 1) % shapes(config).n_outputs  # and half wrong
    share, yields = returned(generation_accuracy(config, model, replace(batch, targets=targets), first))
    assert share == 0.5
    assert yields == batch.inputs.size(1) - first
    read = reader(config, model, batch)
    with torch.no_grad():
        for end in range(N, batch.inputs.size(1) + 1):
            at = None if batch.positions is None else batch.positions[:end]
            whole = forward(model, replace(batch, inputs=batch.inputs[:, :end], positions=at))[:, -1]
            assert torch.allclose(read(batch.inputs[:, :end]), whole, atol=1e-9)


def test_the_past_is_kept_only_where_no_token_depends_on_a_later_one() -> None:
    assert all(keeps_past(parse({"family": name})) for name in ("decoder", "encoder_decoder", "gru", "lstm"))
    assert not keeps_past(parse({"family": "cnn"}))
    assert not keeps_past(parse({"mask_fault": "off_by_one"}))
    assert not keeps_past(parse({"softmax_axis": "query", "attention_impl": "materialised"}))


@pytest.mark.parametrize("settings", [{}, {"family": "encoder_decoder"}, {"test_lengths": (3, 8)}])
def test_a_run_can_be_left_between_any_two_tokens_that_it_writes(settings: dict[str, Any]) -> None:
    events = list(train(parse({"seq_len": 6, "steps": 2, **settings})))
    assert isinstance(events[-1], Finished)
    last = max(index for index, event in enumerate(events) if isinstance(event, Progress))
    between = [event for event in events[last:-1] if isinstance(event, Measuring)]
    assert len(between) >= 6 + len(settings.get("test_lengths", ()))


def test_a_long_sequence_is_written_without_whole_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokens that pass through the model while a decoder writes grow with the length, not with its square."""
    config, model, batch = ready(seq_len=48, pos_encoding="alibi")
    seen: list[int] = []
    handle = model.head.register_forward_pre_hook(lambda module, given: seen.append(given[0].size(1)))
    returned(generation_accuracy(config, model, batch, 47))
    handle.remove()
    assert sum(seen) == batch.inputs.size(1)
