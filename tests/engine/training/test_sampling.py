"""Drawing the next token: what temperature and top-k must do, and that the same seed writes the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.text import own
from engine.text.tokens import UNKNOWN
from engine.training.train import prepare
from engine.training.writing import continuation, distribution, next_logits, write_on

TEXT = "the cat sat on the mat, and the dog sat by the cat.\n" * 60
LOGITS = torch.tensor([2.0, -1.0, 0.5, 3.0, 2.9])


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunConfig:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    return parse({
        "task": "shakespeare_words", "text": own.keep(TEXT.encode()), "vocab_size": 14, "seq_len": 8, "d_model": 16,
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

    kept = distribution(LOGITS, 1.0, top_k=2)
    assert (kept > 0).nonzero().flatten().tolist() == [3, 4]
    assert kept.sum().item() == pytest.approx(1.0)
    assert (kept[3] / kept[4]).item() == pytest.approx(torch.tensor(0.1).exp().item(), rel=1e-5)


def test_what_is_drawn_follows_the_distribution(config: RunConfig) -> None:
    model = prepare(config).eval()
    chances = distribution(next_logits(config, model, [3, 1]), temperature=1.0)
    drawn = torch.tensor([write_on(config, model, [3, 1], 1, seed=seed)[0] for seed in range(700)])
    seen = drawn.bincount(minlength=len(chances)) / len(drawn)
    assert (seen - chances).abs().max() < 0.07
    assert chances[UNKNOWN] == 0


def test_the_same_seed_writes_the_same_and_greedy_needs_none(config: RunConfig) -> None:
    model = prepare(config)
    before = torch.get_rng_state()
    first, again, other = (write_on(config, model, [3], 30, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert write_on(config, model, [3], 30, temperature=0.0, seed=1) == write_on(
        config, model, [3], 30, top_k=1, seed=2
    )
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
