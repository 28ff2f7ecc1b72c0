"""The answers about a trained language model: counting models, the model next to them, its samples.

A run is named by its config and the file of its weights. Every question raises ValueError with one sentence. The counting models
are Kneser-Ney with the same training text, vocabulary and tokens: every held-out token is scored once, given the tokens before it
in the document, also at the start of a model's window, so that they never see less than the model.
"""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from engine.analysis.text.jobs import MAX_WRITTEN_TOKENS, CountingLevels, TextComparison, TextFacts, WrittenText
from engine.config.run_config import RunConfig
from engine.estimate.pieces import pieces, rows_at_once
from engine.foundation.code_hash import code_hash
from engine.foundation.files import adding, data_folder
from engine.foundation.log import log_unsaved
from engine.foundation.stored_json import hash_of
from engine.model.build import trained_model
from engine.tasks.text import TextSettings
from engine.tasks.text.data import text_corpus
from engine.tasks.text.encoded import read_text
from engine.tasks.text.kneser_ney import ORDERS, kneser_ney
from engine.tasks.text.tokens import UNKNOWN
from engine.training.data import Batch, Data, text_settings_of
from engine.training.evaluation import forward
from engine.training.writing import continuation, distribution, next_logits, write_on

LIKELIEST = 12  # next tokens that are named
MAX_SCORED_TEXTS = 40  # scored texts on disk, the newest
# -ln P of every held-out token by counting model, the held-out documents one after the other: [token]
Nats = dict[str, np.ndarray]


def counting_models(config: RunConfig) -> CountingLevels:
    levels: dict[str, float] = {}
    levels_of_known: dict[str, float] = {}
    text = text_settings_of(config).encoded()
    if has_baselines(config):
        positions = (
            Data(config).validation_positions()[:, 1:].numpy()
        )  # of the tokens that are asked for: [row, length]
        scored = {name: nats[positions] for name, nats in baseline_nats(config).items()}
        known = np.concatenate(text.held_out)[positions] != UNKNOWN
        levels = {name: float(nats.mean()) for name, nats in scored.items()}
        levels_of_known = {name: float(nats[known].mean()) for name, nats in scored.items() if known.any()}
    facts = TextFacts(
        trained=sum(map(len, text.trained)),
        held_out=sum(map(len, text.held_out)),
        unknown=sum(int((document == UNKNOWN).sum()) for document in text.held_out),
        known=len(text.vocabulary.numbers),
    )
    return {"levels": levels, "known": levels_of_known, "facts": facts}


def beside_counting_models(config: RunConfig, weights: str) -> TextComparison:
    model, counted = trained_model(config, Path(weights)), baseline_nats(config)
    settings = text_settings_of(config)
    # together the windows cover nearly every held-out token
    inputs, answers, positions = text_corpus(settings, config).every(config.seq_len, held_out=True)
    answered = positions[:, 1:].numpy()  # [window, length]
    known, words = answers.numpy() != UNKNOWN, settings.encoded().held_out_words[answered]
    of_parts = {"all": np.ones_like(known), "known": known, "words": words, "layout": ~words}
    nats = {"model": _nats_of(config, model, Data(config).frame(inputs, answers))}
    nats |= {name: values[answered] for name, values in counted.items()}
    there = {name: part for name, part in of_parts.items() if part.any()}
    return {
        "tokens": {name: int(part.sum()) for name, part in of_parts.items()},
        "nats": {name: {part: float(values[at].mean()) for part, at in there.items()} for name, values in nats.items()},
        "by_read": {name: values.mean(axis=0) for name, values in nats.items()},
    }


@torch.no_grad()
def _nats_of(config: RunConfig, model: nn.Module, batch: Batch) -> np.ndarray:
    """-ln P of each answer, [window, length]."""
    windows, length = batch.inputs.shape
    # Made first: small results between large tensors would keep the heap in pieces.
    nats = np.empty((windows, length), np.float32)
    for piece in pieces(windows, rows_at_once(config, config.seq_len, windows)):
        rows = batch.rows(piece)
        logits = forward(model, rows).float().flatten(0, 1)  # [window * length, token]
        nats[piece] = F.cross_entropy(logits, rows.targets.flatten(), reduction="none").view(-1, length).numpy()
    return nats


def sample(
    config: RunConfig, weights: str, prompt: str, length: int, temperature: float, top_k: int | None, seed: int
) -> WrittenText:
    _check_numbers(length, temperature, top_k)
    model, settings = trained_model(config, Path(weights)), text_settings_of(config)
    read = read_text(settings.encoded(), prompt)
    chances = distribution(next_logits(config, model, read.tokens), temperature, top_k)
    likeliest = chances.topk(min(LIKELIEST, len(chances)))
    likely = zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True)
    names = text_corpus(settings, config).names
    written = write_on(config, model, read.tokens, length, temperature=temperature, top_k=top_k, seed=seed)
    return {
        "prompt": read.text,
        "text": continuation(config, read.text, written),
        "unknown": read.unknown,
        "next": [(names[token], chance) for token, chance in likely if chance],
        "read": min(len(read.tokens), config.seq_len),
    }


def _check_numbers(length: int, temperature: float, top_k: int | None) -> None:
    if not 1 <= length <= MAX_WRITTEN_TOKENS:
        raise ValueError(f"length is {length}; it must be a whole number from 1 to {MAX_WRITTEN_TOKENS}.")
    if not 0 <= temperature <= 10:
        raise ValueError(f"temperature is {temperature:g}; it must be a number from 0 to 10.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; it must be a whole number from 1, or none.")


def has_baselines(config: RunConfig) -> bool:
    """True if a comparison with counting models is fair: the run trains on all its text and other text is held out."""
    settings = config.task_settings
    return isinstance(settings, TextSettings) and settings.split == "plays" and config.dataset_size is None


def baseline_nats(config: RunConfig) -> Nats:
    """The scores, from disk if the same text was scored before. Raises ValueError unless :func:`has_baselines`."""
    if not has_baselines(config):
        raise ValueError(f"task is {config.task}; counting models need a run that holds other text out.")
    file = _file(config)
    try:
        with np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in ORDERS}
    except (OSError, ValueError, KeyError, BadZipFile):
        nats = _scored(config)
    try:
        with adding(file, MAX_SCORED_TEXTS) as half_written, half_written.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **nats)
    except OSError as error:
        log_unsaved("The scores of counting models %s cannot be saved", file.stem, error)
    return nats


def _scored(config: RunConfig) -> Nats:
    settings = text_settings_of(config)
    trained = [text.numpy() for text in text_corpus(settings, config).trained]
    models = {name: kneser_ney(trained, settings.vocab_size, order) for name, order in ORDERS.items()}
    return {
        name: np.concatenate([model.nats(text) for text in settings.encoded().held_out]).astype(np.float32)
        for name, model in models.items()
    }


def _file(config: RunConfig) -> Path:
    settings = text_settings_of(config)
    names = ["text", "vocab_size", "text_tokens"]
    names += ["plays"] if settings.text == "shakespeare" else []
    names += ["seed"] if settings.text_tokens is not None else []
    key = [code_hash(), settings.unit, {name: config.value(name) for name in names}]
    return data_folder() / "baselines" / f"{hash_of(key, 32)}.npz"
