"""The analysis behind the text page: counting models, the trained model beside them, writing, attention on a sentence.

A run is named by its config and the file of its weights. Every function raises ValueError with one sentence.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from engine.analysis import ngram_scores
from engine.analysis.limits import LONGEST
from engine.analysis.text_jobs import Beside, Counted, SentenceAttention, TextFacts, Written
from engine.config.run_config import RunConfig
from engine.model.activations import ActivationCache
from engine.model.load import trained_model
from engine.tasks.windows import text_corpus
from engine.text.encoded import read_text
from engine.text.tokens import UNKNOWN
from engine.training.data import Batch, Data, text_settings_of
from engine.training.evaluation import forward
from engine.training.sampling import continuation, distribution, next_logits, write_on
from engine.training.snapshot import patterns_in

ROWS = 256
"""The number of windows that the model reads at once."""
LIKELIEST = 12
"""The number of next tokens that are named."""


def counting_models(config: RunConfig) -> Counted:
    """The score of each counting model on a run's validation text."""
    levels: dict[str, float] = {}
    if ngram_scores.has_baselines(config):
        positions = ngram_scores.validation_positions(config)
        levels = {name: float(nats[positions].mean()) for name, nats in ngram_scores.baseline_nats(config).items()}
    text = text_settings_of(config).encoded()
    facts = TextFacts(
        trained=sum(map(len, text.trained)),
        held_out=sum(map(len, text.held_out)),
        unknown=sum(int((document == UNKNOWN).sum()) for document in text.held_out),
        known=len(text.vocabulary.numbers),
    )
    return {"levels": levels, "facts": facts}


def beside_counting_models(config: RunConfig, weights: str) -> Beside:
    """The trained model and the counting models on all held-out windows, which together cover nearly every held-out token."""
    model, counted = trained_model(config, Path(weights)), ngram_scores.baseline_nats(config)
    own = text_settings_of(config)
    inputs, answers, positions = text_corpus(own, config).every(config.seq_len, held_out=True)
    asked = positions[:, 1:].numpy()  # [window, length]
    is_asked_word = own.encoded().held_out_words[asked]
    nats = {"model": _nats_of(model, Data(config).frame(inputs, answers))}
    nats |= {name: values[asked] for name, values in counted.items()}
    sizes = {"all": asked.size, "words": int(is_asked_word.sum()), "layout": int((~is_asked_word).sum())}
    return {
        "tokens": sizes,
        "nats": {name: ngram_scores.mean_nats(values, is_asked_word) for name, values in nats.items()},
        "by_read": {name: values.mean(axis=0) for name, values in nats.items()},
    }


@torch.no_grad()
def _nats_of(model: nn.Module, batch: Batch) -> np.ndarray:
    """-ln P of each answer, [window, length]."""
    parts = []
    for begin in range(0, len(batch.inputs), ROWS):
        rows = replace(batch, inputs=batch.inputs[begin:][:ROWS], targets=batch.targets[begin:][:ROWS])
        # [window, length, token] -> [window, token, length], the order that cross_entropy needs
        logits = forward(model, rows).float().transpose(1, 2)
        parts.append(F.cross_entropy(logits, rows.targets, reduction="none"))
    whole: np.ndarray = torch.cat(parts).numpy()
    return whole


def sample(
    config: RunConfig,
    weights: str,
    prompt: str,
    *,
    length: int = 60,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int = 0,
) -> Written:
    """The text that the model writes after a prompt."""
    _check_numbers(length, temperature, top_k)
    model, own = trained_model(config, Path(weights)), text_settings_of(config)
    read = read_text(own.encoded(), prompt)
    chances = distribution(next_logits(config, model, read.tokens), temperature, top_k)
    likeliest = chances.topk(min(LIKELIEST, len(chances)))
    names = text_corpus(own, config).names
    written = write_on(config, model, read.tokens, length, temperature=temperature, top_k=top_k, seed=seed)
    return {
        "prompt": read.text,
        "text": continuation(config, read.text, written),
        "unknown": read.unknown,
        "next": [
            (names[n], p) for n, p in zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True) if p
        ],
        "read": min(len(read.tokens), config.seq_len),
    }


def attention(config: RunConfig, weights: str, sentence: str) -> SentenceAttention:
    """Every head's pattern on a sentence."""
    if not config.architecture.attends:
        raise ValueError(f"family is {config.family}, which has no attention.")
    model, text = trained_model(config, Path(weights)), text_settings_of(config).encoded()
    read = read_text(text, sentence)
    shown = read.tokens[: config.seq_len]
    cache: ActivationCache = {}
    with torch.no_grad():
        model(torch.tensor([shown]), cache=cache)
    return {
        "patterns": patterns_in(cache)["self"],
        "tokens": read.names[: len(shown)],
        "unknown": read.unknown,
        "cut": len(read.tokens) - len(shown),
    }


def _check_numbers(length: int, temperature: float, top_k: int | None) -> None:
    if not 1 <= length <= LONGEST:
        raise ValueError(f"length is {length}; allowed is a whole number from 1 to {LONGEST}.")
    if not 0 <= temperature <= 10:
        raise ValueError(f"temperature is {temperature:g}; allowed is a number from 0 to 10.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; allowed is a whole number from 1, or none.")
