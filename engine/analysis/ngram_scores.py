"""The scores of counting models on a run's held-out text: Kneser-Ney with the same training text, vocabulary and tokens.

Every held-out token is scored once, given the tokens before it in the document, also at the start of a model's window:
the counting models never see less than the model.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from engine.config.run_config import RunConfig
from engine.foundation.code_hash import code_hash
from engine.foundation.files import data_folder, keep_newest, replacing
from engine.tasks.text_settings import TextSettings
from engine.tasks.windows import text_corpus
from engine.text.kneser_ney import ORDERS, kneser_ney
from engine.training.data import Data, text_settings_of

MAX_KEPT = 40
"""The number of scored texts kept on disk, the newest."""

Nats = dict[str, np.ndarray]
"""-ln P of every held-out token by counting model, the held-out documents one after the other: [token]."""


def has_baselines(config: RunConfig) -> bool:
    """Whether a comparison with counting models is fair: the run trains on all its text and other text is held out."""
    own = config.task_settings
    return isinstance(own, TextSettings) and own.split == "plays" and config.dataset_size is None


def baseline_nats(config: RunConfig) -> Nats:
    """The scores, from disk if the same text was scored before. Raises ValueError where :func:`has_baselines` is False."""
    if not has_baselines(config):
        raise ValueError(f"task is {config.task}; counting models stand beside a run that holds other text out.")
    file = _file(config)
    try:
        with np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in ORDERS}
    except (OSError, ValueError, KeyError, BadZipFile):
        nats = _scored(config)
    _keep(file, nats)
    return nats


def validation_positions(config: RunConfig) -> np.ndarray:
    """The indices of the tokens that the run's validation asks for: [row, length]."""
    positions: np.ndarray = Data(config).validation_positions()[:, 1:].numpy()
    return positions


def mean_nats(nats: np.ndarray, words: np.ndarray) -> dict[str, float]:
    """The mean over all tokens, over words, and over the layout between them; both arguments [token]."""
    parts = {"all": nats, "words": nats[words], "layout": nats[~words]}
    return {name: float(part.mean()) for name, part in parts.items() if len(part)}


def _scored(config: RunConfig) -> Nats:
    own = text_settings_of(config)
    trained = [text.numpy() for text in text_corpus(own, config).trained]
    models = {name: kneser_ney(trained, own.vocab_size, order) for name, order in ORDERS.items()}
    return {
        name: np.concatenate([model.nats(text) for text in own.encoded().held_out]).astype(np.float32)
        for name, model in models.items()
    }


def _file(config: RunConfig) -> Path:
    own = text_settings_of(config)
    names = ["text", "vocab_size", "text_tokens"]
    names += ["plays"] if own.text == "shakespeare" else []
    names += ["seed"] if own.text_tokens is not None else []
    key = json.dumps([code_hash(), own.unit, {name: config.value(name) for name in names}])
    return data_folder() / "baselines" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"


def _keep(file: Path, nats: Nats) -> None:
    with replacing(file) as half_written, half_written.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **nats)
    keep_newest(file.parent, "*.npz", MAX_KEPT)
