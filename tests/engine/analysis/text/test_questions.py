"""What a worker answers about a trained language model: on a small text of one's own, with the weights of a short run."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from engine.analysis.text import questions
from engine.analysis.text.jobs import WriteText
from engine.analysis.text.questions import baseline_nats
from engine.config.run_config import RunConfig, parse
from engine.model.build import save_weights
from engine.runs.events import Finished, Snapshot
from engine.tasks.text import user_texts
from engine.tasks.text.kneser_ney import kneser_ney
from engine.tasks.text.tokens import pieces, vocabulary_of
from engine.training.data import Data
from engine.training.train import prepare, train

CLAUSES = ("the cat sat on the mat", "a dog ran to the gate", "the old king slept", "birds sang, and the sun rose")
TEXT = "".join(f"{CLAUSES[n * n % 7 % 4]}, {CLAUSES[n % 3]}.\n" for n in range(120))

Ran = tuple[RunConfig, str, Finished, list[Snapshot]]
"""A short run: its config, its weights, its end, its looks."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_LAB_DATA", str(folder))
        config = parse({
            "task": "shakespeare_words", "text": user_texts.keep(TEXT.encode()), "vocab_size": 14, "seq_len": 8, "d_model": 16,
            "pos_encoding": "rope", "n_layers": 2, "n_heads": 2, "steps": 60, "tie_embeddings": True, "token_init_std": 0.1,
        })  # fmt: skip
        model = prepare(config)
        events = list(train(config, model))
        save_weights(model, folder / "weights.safetensors")
        looks = [event for event in events if isinstance(event, Snapshot)]
        yield config, str(folder / "weights.safetensors"), events[-1], looks


def test_counting_models_see_the_models_text_and_are_left_out_where_that_would_not_be_fair(run: Ran) -> None:
    config = run[0]
    end = len(TEXT) - len(TEXT) // 10
    trained, held_out = pieces(TEXT[:end], "words"), pieces(TEXT[end:], "words")
    vocabulary = vocabulary_of([trained], 14)
    nats = kneser_ney([vocabulary.encode(trained)], 14, 3).nats(vocabulary.encode(held_out))
    np.testing.assert_allclose(baseline_nats(config)["trigram"], nats, rtol=1e-6)
    told = questions.counting_models(config)
    assert told["levels"].keys() == {"unigram", "bigram", "trigram"}
    # A whole number of windows with repeats: each held-out token but the first few at the ends is asked about as often.
    assert told["levels"]["trigram"] == pytest.approx(nats[1:].mean(), abs=0.25)
    assert told["facts"]["trained"] == len(trained)
    positions = Data(config).validation_positions()[:, 1:].numpy()
    asked, scored = vocabulary.encode(held_out)[positions], nats[positions]
    assert 0 < (asked == 0).mean() < 1
    assert told["known"]["trigram"] == pytest.approx(scored[asked != 0].mean(), rel=1e-5)

    for changes in ({"split": "none"}, {"dataset_size": 20}):
        other = run[0].replace(**changes)
        assert questions.counting_models(other)["levels"] == {}
        with pytest.raises(ValueError, match="counting models need a run that holds other text out"):
            questions.beside_counting_models(other, run[1])


def test_a_disk_that_does_not_take_the_scores_costs_a_line_in_the_log(
    run: Ran, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told = questions.counting_models(run[0])
    monkeypatch.setenv("ATTENTION_LAB_DATA", "/dev/null/full")
    assert baseline_nats(run[0]).keys() == told["levels"].keys()
    assert "cannot be saved" in caplog.text


def test_scores_are_read_from_disk_the_second_time(run: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    first = baseline_nats(run[0])
    monkeypatch.setattr("engine.analysis.text.questions.kneser_ney", None)
    again = baseline_nats(run[0].replace(seed=5, n_layers=1))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    monkeypatch.setattr("engine.analysis.text.questions.code_hash", lambda: "other")
    with pytest.raises(TypeError):  # other code scores the text itself
        baseline_nats(run[0])


def test_all_held_out_tokens_by_part_and_by_place_agree(run: Ran) -> None:
    config, weights, finished, _ = run
    found = questions.beside_counting_models(config, weights)
    sizes = found["tokens"]
    assert sizes["all"] == sizes["words"] + sizes["layout"]
    for nats in found["nats"].values():
        parts = (nats["words"] * sizes["words"] + nats["layout"] * sizes["layout"]) / sizes["all"]
        assert nats["all"] == pytest.approx(parts, rel=1e-5)
    assert 0 < sizes["known"] < sizes["all"]
    known = finished.metrics["known_perplexity"]
    assert np.exp(found["nats"]["model"]["known"]) == pytest.approx(known, rel=0.3)
    for name, by_read in found["by_read"].items():
        assert by_read.shape == (8,)
        assert by_read.mean() == pytest.approx(found["nats"][name]["all"], rel=1e-5)
    assert found["nats"]["model"]["all"] == pytest.approx(finished.metrics["loss"], abs=0.25)


def test_writing_names_what_is_unknown_and_is_reproducible(run: Ran) -> None:
    config, weights, _, _ = run
    told = WriteText(config, weights, " the cat Gandalf sat.", length=12, temperature=0.9, seed=3).do()
    assert told["unknown"] == ["Gandalf"]
    assert told["prompt"] == "the cat Gandalf sat.\n", "the last mark goes on as it does in the text"
    assert told == WriteText(config, weights, "the cat Gandalf sat.", length=12, temperature=0.9, seed=3).do()
    assert sum(p for _, p in told["next"]) == pytest.approx(1.0, abs=0.2)
    assert [p for _, p in told["next"]] == sorted((p for _, p in told["next"]), reverse=True)
    greedy = WriteText(config, weights, "the", length=5, temperature=0.0).do()
    assert [p for _, p in greedy["next"]] == [1.0]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"temperature": -1}, "temperature is -1"), ({"length": 0}, "length is 0"), ({"top_k": 0}, "top_k is 0"),
        ({"prompt": "  "}, "prompt is empty"), ({"weights": "gone"}, "no weights"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(run: Ran, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        WriteText(run[0], **{"weights": run[1], "prompt": "the", **given}).do()


def test_looks_write_on_from_held_out_text_and_get_better(run: Ran) -> None:
    looks = run[3]
    assert {look.prompt for look in looks} == {looks[0].prompt}
    assert looks[0].written != looks[-1].written
    held_out = TEXT[len(TEXT) - len(TEXT) // 10 :]
    assert looks[0].prompt in held_out.replace("\ufffd", "")

    def share(look: Snapshot) -> float:
        """Of the written pairs of neighbours, how many the text has."""
        parts, whole = pieces(look.written.strip(), "words"), pieces(TEXT, "words")
        there = set(pairwise(whole))
        return float(np.mean([pair in there for pair in pairwise(parts)]))

    assert share(looks[-1]) > share(looks[0]) + 0.2
