from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import continues, keeps_past, shapes
from engine.runs.events import Finished, Measuring, Progress
from engine.settings.architectures import ARCHITECTURES
from engine.tasks.text import user_texts
from engine.tasks.text.tokens import UNKNOWN
from engine.training.data import Batch
from engine.training.evaluation import evaluate, forward
from engine.training.train import prepare, train
from engine.training.writing import (
    continuation,
    distribution,
    generation_accuracy,
    next_logits,
    reader,
    unseen_scores,
    write_on,
)
from tests.engine.tiny import TODAY, as_trained, exhaust

N = 5


def ready(**settings: Any) -> tuple[RunConfig, nn.Module, Batch]:
    """A config, its untrained model and a batch, in double precision, so that no near tie is decided by rounding."""
    case = as_trained(**{"seq_len": N, "d_model": 16, "n_heads": 2, "n_layers": 2, **settings})
    return case.config, case.model.double().eval(), case.data.validation_batch(size=8)


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
    {"coupled_positions": True, "test_lengths": (9,)},
    {"coupled_positions": True, "pos_encoding": "conv", "local_mix": 3},
    *({"local_mix": reach, "family": family} for reach in (1, 7) for family in ("decoder", "encoder_decoder")),
    {"local_mix": 2, "share_layers": True, "norm": "post"},
    *({"qk_norm": True, "pos_encoding": "rope", "family": family} for family in ("decoder", "encoder_decoder")),
    *({**TODAY, "n_heads": 4, "family": family} for family in ("decoder", "encoder_decoder")),
    *({"softmax_plus_one": True, "attention_gate": True, "pos_encoding": name} for name in ("rope", "alibi", "shaw")),
    {"softmax_plus_one": True, "attention_gate": True, "family": "encoder_decoder"},
]


@pytest.mark.parametrize("settings", CASES, ids=str)
def test_answers_and_logits_are_those_of_whole_passes(settings: dict[str, Any]) -> None:
    config, model, batch = ready(**settings)
    first = N - 1 if continues(config) else 0
    expected = written_with_whole_passes(model, batch, first)
    targets = batch.targets.clone()
    targets[:4, first:] = expected[:4]  # half of the sequences are answered right by definition
    targets[4:, first:] = (expected[4:] + 1) % shapes(config).n_outputs  # and half wrong
    share, yields = exhaust(generation_accuracy(config, model, replace(batch, targets=targets), first))
    assert (share, yields) == (0.5, batch.inputs.size(1) - first)
    read = reader(config, model, batch)
    with torch.no_grad():
        for end in range(N, batch.inputs.size(1) + 1):
            at = None if batch.positions is None else batch.positions[:end]
            whole = forward(model, replace(batch, inputs=batch.inputs[:, :end], positions=at))[:, -1]
            assert torch.allclose(read(batch.inputs[:, :end]), whole, atol=1e-9)


@pytest.mark.parametrize("settings", [{"task": "markov"}, {"task": "markov", "family": "gru"}], ids=str)
def test_scores_without_the_later_tokens_are_the_usual_ones_where_nothing_leaks(settings: dict[str, Any]) -> None:
    config, model, batch = ready(**settings)
    (accuracy, loss), yields = exhaust(unseen_scores(config, model, batch))
    usual = evaluate(model, batch)
    assert yields == batch.inputs.size(1)
    assert (accuracy, loss) == pytest.approx((usual["accuracy"], usual["loss"]), abs=1e-6)
    config, model, batch = ready(**settings | {"family": "decoder", "mask_fault": "missing"})
    (_, hidden), _ = exhaust(unseen_scores(config, model, batch))
    assert abs(hidden - evaluate(model, batch)["loss"]) > 1e-3


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
    lengths: list[int] = []
    handle = model.head.register_forward_pre_hook(lambda module, given: lengths.append(given[0].size(1)))
    exhaust(generation_accuracy(config, model, batch, 47))
    handle.remove()
    assert sum(lengths) == batch.inputs.size(1)


TEXT = "the cat sat on the mat, and the dog sat by the cat.\n" * 60
LOGITS = torch.tensor([2.0, -1.0, 0.5, 3.0, 2.9])


@pytest.fixture
def config(own_data_folder: Path) -> RunConfig:
    return parse({
        "task": "shakespeare_words", "text": user_texts.keep(TEXT.encode()), "vocab_size": 14, "seq_len": 8, "d_model": 16,
        "tie_embeddings": True, "token_init_std": 0.5,
    })  # fmt: skip


def test_temperature_is_softmax_of_the_quotient_zero_is_greedy_and_top_k_keeps_the_likeliest_in_proportion() -> None:
    assert torch.allclose(distribution(LOGITS), LOGITS.softmax(0))
    assert torch.allclose(distribution(LOGITS, 0.5), (2 * LOGITS).softmax(0))
    assert torch.allclose(distribution(LOGITS, 1.0, top_k=5), LOGITS.softmax(0))

    greedy = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0])
    assert distribution(LOGITS, 0.0).equal(greedy)
    assert distribution(LOGITS, 1.0, top_k=1).equal(greedy)
    assert torch.allclose(distribution(LOGITS, 1e-3), greedy)

    probabilities = distribution(LOGITS, 1.0, top_k=2)
    assert (probabilities > 0).nonzero().flatten().tolist() == [3, 4]
    assert probabilities.sum().item() == pytest.approx(1.0)
    assert (probabilities[3] / probabilities[4]).item() == pytest.approx(torch.tensor(0.1).exp().item(), rel=1e-5)


def test_what_is_drawn_follows_the_distribution(config: RunConfig) -> None:
    model = prepare(config).eval()
    chances = distribution(next_logits(config, model, [3, 1]), temperature=1.0)
    drawn = torch.tensor([write_on(config, model, [3, 1], 1, seed=seed)[0] for seed in range(700)])
    frequencies = drawn.bincount(minlength=len(chances)) / len(drawn)
    assert (frequencies - chances).abs().max() < 0.07
    assert chances[UNKNOWN] == 0


def test_the_same_seed_writes_the_same_and_greedy_needs_none(config: RunConfig) -> None:
    model = prepare(config)
    before = torch.get_rng_state()
    first, again, other = (write_on(config, model, [3], 30, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    greedy = write_on(config, model, [3], 30, temperature=0.0, seed=1)
    assert greedy == write_on(config, model, [3], 30, top_k=1, seed=2)
    assert torch.get_rng_state().equal(before), "by a generator of its own"
    assert model.training, "the mode is put back"


def test_greedy_takes_the_likeliest_with_a_window_that_slides(config: RunConfig) -> None:
    model, tokens = prepare(config).eval(), [3, 1]
    for _ in range(20):
        with torch.no_grad():
            logits = model(torch.tensor([tokens[-config.seq_len :]]))[0, -1]
        logits[UNKNOWN] = -torch.inf
        tokens.append(int(logits.argmax()))
    assert write_on(config, model, [3, 1], 20, temperature=0.0) == tokens[2:]


def test_a_continuation_has_the_space_that_goes_without_saying(config: RunConfig) -> None:
    numbers = config.task_settings.encoded().vocabulary.numbers
    written = [numbers[piece] for piece in ("cat", "sat", ", ", "and")]
    assert continuation(config, "the", written) == " cat sat, and"
    assert continuation(config, "on, ", written) == "cat sat, and"
    assert continuation(config, "the", []) == ""
