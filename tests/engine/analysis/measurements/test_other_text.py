"""Loss on other text: nothing flatters where validation is other text already, and memory flatters."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from engine.analysis.measurements.other_text import measure
from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.model.build import build_model
from engine.runs.record_options import RecordOptions
from engine.text import own
from engine.training.data import Data
from engine.training.train import prepare, train
from engine.training.trained import Trained


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunConfig:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    text = "".join(random.Random(0).choices("abcdefgh", k=3000))
    flat = {"task": "shakespeare_chars", "text": own.keep(text.encode()), "seq_len": 16, "vocab_size": 9, "steps": 150}
    return parse({**flat, "text_tokens": 256, "windows": "non_overlapping", "d_model": 32})


def trained(config: RunConfig) -> Trained:
    model = prepare(config)
    for _ in train(config, model, RecordOptions(snapshots=False, evaluations=1, memory=False)):
        pass
    return Trained(config, model, Data(config), torch.device("cpu"))


def test_memory_of_random_letters_flatters_and_other_text_does_not(config: RunConfig) -> None:
    memorised = measure(trained(config.replace(split="none")))
    assert memorised["other_text.loss"] > 2.0, "nobody can know random letters: ln 8 = 2.08"
    assert memorised["other_text.flattery"] > 0.5
    honest = Trained(config, build_model(config, **shapes(config).of_model), Data(config), torch.device("cpu"))
    assert measure(honest)["other_text.flattery"] == 0.0


def test_a_task_without_text_is_refused() -> None:
    config = RunConfig()
    given = Trained(config, build_model(config, **shapes(config).of_model), Data(config), torch.device("cpu"))
    with pytest.raises(ValueError, match="task is reverse; allowed"):
        measure(given)
