import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.runs.events import Failed, Snapshot
from engine.settings.errors import ConfigError
from engine.tasks.text import user_texts
from engine.tasks.text.data import text_corpus
from engine.tasks.text.encoded import without_window
from engine.tasks.text.tokens import UNKNOWN
from engine.training.data import Data
from engine.training.evaluation import chance_of
from engine.training.train import train

OVERLAPPING = {"windows": "overlapping", "seq_len": 8, "stride": 8}


def test_the_text_tasks_differ_in_unit_and_defaults_alone() -> None:
    characters, words = (parse({"task": task}).task_settings for task in ("shakespeare_chars", "shakespeare_words"))
    assert (characters.unit, words.unit) == ("characters", "words")
    assert list(type(characters).model_fields) == list(type(words).model_fields)
    assert (characters.n_symbols, words.n_symbols) == (80, 1000)
    assert characters.sister_symbols == words.sister_symbols == 0
    assert parse({"task": "shakespeare_chars", **OVERLAPPING, "windows": "non_overlapping"}).value("stride") == 8


CHARACTERS = "abcdefghijklmnopqrstuvwxyz ,.\n"
TEXT = "".join(random.Random(0).choices(CHARACTERS, weights=range(30, 0, -1), k=4000))


@pytest.fixture
def config(own_data_folder: Path) -> RunConfig:
    return parse({"task": "shakespeare_chars", "text": user_texts.keep(TEXT.encode()), "seq_len": 8, "steps": 4})


def numbers_of(text: str, config: RunConfig) -> list[int]:
    names = text_corpus(config.task_settings, config).names
    visible = text.replace(" ", "␣").replace("\n", "↵")
    return [names.index(character) for character in visible]


def every(config: RunConfig, *, held_out: bool, size: int = 20_000) -> set[tuple[int, ...]]:
    """Every window of a side, inputs and the last answer, found by drawing many."""
    corpus = text_corpus(config.task_settings, config)
    inputs, answers = corpus.draw(size, config.seq_len, torch.Generator().manual_seed(0), held_out=held_out)
    assert inputs[:, 1:].equal(answers[:, :-1])
    return set(map(tuple, torch.cat([inputs, answers[:, -1:]], dim=1).tolist()))


def slices(tokens: list[int], length: int, stride: int) -> set[tuple[int, ...]]:
    return {tuple(tokens[at : at + length + 1]) for at in range(0, len(tokens) - length, stride)}


@pytest.mark.parametrize(
    ("settings", "stride"),
    [({"windows": "non_overlapping"}, 8), ({"stride": 3}, 3), ({"stride": 1, "text_tokens": 3600}, 1)],
)
def test_windows_are_slices_of_the_text(config: RunConfig, settings: dict[str, Any], stride: int) -> None:
    cut = config.replace(**settings)
    trained, held_out = numbers_of(TEXT[:3600], cut), numbers_of(TEXT[3600:], cut)
    assert every(cut, held_out=False, size=60_000) == slices(trained, 8, stride)
    assert every(cut, held_out=True, size=1000) == slices(held_out, 8, 8), "held-out windows never overlap"


def test_a_training_set_is_the_first_windows_which_are_tested_on_where_none_is_held_out(config: RunConfig) -> None:
    few = config.replace(dataset_size=20, stride=4)
    assert every(few, held_out=False) == slices(numbers_of(TEXT[: 19 * 4 + 9], few), 8, 4)
    same = config.replace(split="none", windows="non_overlapping", text_tokens=512)
    assert every(same, held_out=True) == every(same, held_out=False)


def test_a_stretch_is_cut_where_the_seed_says(config: RunConfig) -> None:
    whole = numbers_of(TEXT[:3600], config)
    found = [every(config.replace(text_tokens=100, seed=seed), held_out=False) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    starts = [at for at in range(3501) if slices(whole[at : at + 100], 8, 1) == found[0]]
    assert len(starts) == 1


def test_windows_split_at_random_are_apart_but_share_text_where_they_overlap(config: RunConfig) -> None:
    split = config.replace(split="windows", text_tokens=1000)
    trained, held_out = every(split, held_out=False), every(split, held_out=True, size=150)
    assert trained.isdisjoint(held_out)
    parts = {window[start : start + 8] for window in trained for start in (0, 1)}
    assert sum(window[:8] in parts or window[1:] in parts for window in held_out) > 0.9 * len(held_out)
    apart = split.replace(windows="non_overlapping")
    rows = every(apart, held_out=False) | every(apart, held_out=True, size=20)
    assert len(rows) <= 124


def test_chance_is_the_share_of_the_commonest_character_and_too_little_text_is_said(config: RunConfig) -> None:
    commonest = max(CHARACTERS, key=TEXT[:3600].count)
    assert Data(config).chance() == pytest.approx(TEXT[:3600].count(commonest) / 3600)
    assert chance_of(config, Data(config))["loss"] == pytest.approx(math.log(len(set(TEXT[:3600]))))
    few = config.replace(vocab_size=5)
    assert chance_of(few, Data(few))["loss"] == pytest.approx(math.log(5)), "four known ones and the unknown one"
    with pytest.raises(ValueError, match="no window of 601 tokens"):
        Data(config.replace(seq_len=600)).validation_batch()


@pytest.mark.parametrize("task", ["shakespeare_chars", "shakespeare_words"])
def test_the_share_of_unknown_tokens_is_that_of_the_tokens_themselves(task: str, config: RunConfig) -> None:
    for settings in ({"vocab_size": 2}, {"vocab_size": 9}, {"vocab_size": 9, "split": "windows"}, {"vocab_size": 1000}):
        user_texts = parse({**config.flat(), "task": task, **settings}).task_settings
        (tokens,) = user_texts.encoded().held_out if user_texts.split == "plays" else user_texts.encoded().trained
        assert user_texts.unknown_share() == pytest.approx((tokens == UNKNOWN).mean())
    assert parse({"task": "k_back"}).task_settings.unknown_share() == 0.0


def test_a_vocabulary_that_lacks_too_many_tokens_is_refused_with_the_size_that_is_enough(config: RunConfig) -> None:
    def refused(**settings: Any) -> str:
        try:
            parse({**config.flat(), **settings}).task_settings.refuse_unknown()
        except ConfigError as error:
            return str(error)
        return ""

    assert refused() == ""
    sentence = re.fullmatch(
        r"vocab_size is 10; it must be at least (\d+) in an experiment on this text, because (.+) of its held-out tokens would be "
        r"unknown, and at most 1 % may be\.",
        refused(vocab_size=10),
    )
    assert sentence is not None
    enough, share = int(sentence[1]), parse({**config.flat(), "vocab_size": 10}).task_settings.unknown_share()
    assert sentence[2] == f"{100 * share:.1f} %"
    assert refused(vocab_size=enough) == ""
    assert f"at least {enough} in" in refused(vocab_size=enough - 1)
    words = refused(task="shakespeare_words", text="shakespeare", plays=34, vocab_size=30_000)
    assert words.startswith(
        "vocab_size is 30000; it must be larger than is possible with words in an experiment on this text, because 4.1 % of"
    )
    assert words.endswith("(task shakespeare_chars).")


def refusal(config: RunConfig) -> str:
    """The reason why the windows of both sides cannot be drawn; empty if they can."""
    try:
        Data(config).training_batch()
        Data(config).validation_batch()
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" * 5000, "to train on"), (" " * 5000, "to train on"), ("👩" * 2000, "to train on"), ("一" * 2000, "to train on"),
        ("a b " * 1000 + "x" * 1000, "held out"), ("x" * 9000 + " a b" * 250, "to train on"),
        ("a " * 560, ""), ("a b\n" * 400, ""),
    ],
)  # fmt: skip
def test_that_a_text_has_no_window_is_known_before_anything_is_counted(
    text: str, why: str, own_data_folder: Path
) -> None:
    name = user_texts.keep(text.encode())
    sentence = without_window(name, "words", 16)
    assert (why in sentence) if why else not sentence
    assert refusal(parse({"task": "shakespeare_words", "text": name, "seq_len": 16})) == sentence
    assert without_window(name, "characters", 16) == ""


def test_a_run_shows_characters_and_perplexity(config: RunConfig) -> None:
    events = list(train(config))
    assert not any(isinstance(event, Failed) for event in events)
    sample = next(event for event in events if isinstance(event, Snapshot)).samples[0]
    assert len(sample.tokens) == len(sample.targets) == 8
    assert sample.tokens[1:] == sample.targets[:-1]
    assert set(sample.tokens) <= {*CHARACTERS.strip(), "␣", "↵", "�"}
    loss, perplexity = (events[-1].metrics[name] for name in ("loss", "perplexity"))
    assert perplexity == pytest.approx(torch.tensor(loss).exp().item(), rel=1e-4)
