"""Kneser-Ney against a literal transcription of its definition, against nltk, and against what probabilities must be."""

from collections import Counter

import numpy as np
import pytest

from engine.text.kneser_ney import FALLBACK, Discounts, estimated, kneser_ney

SIZE = 12


@pytest.fixture(scope="module")
def texts() -> list[np.ndarray]:
    """Two texts in which some tokens are common and one never occurs."""
    draw = np.random.default_rng(0)
    common = np.linspace(3, 0, SIZE) / np.linspace(3, 0, SIZE).sum()
    return [draw.choice(SIZE, size=n, p=common) for n in (400, 150)]


def slowly(texts: list[np.ndarray], order: int, given: list[Discounts] | None, context: list[int], word: int) -> float:
    """P(word | context), gram by gram as Chen and Goodman 1998 write it (section 3, equations 20 to 26)."""
    counts: dict[int, Counter[tuple[int, ...]]] = {n: Counter() for n in range(1, order + 1)}
    for text in texts:
        tokens = text.tolist()
        counts[order].update(tuple(tokens[at : at + order]) for at in range(len(tokens) - order + 1))
    for n in range(order - 1, 0, -1):
        counts[n] = Counter(gram[1:] for gram in counts[n + 1])  # in how many contexts

    def chance(history: tuple[int, ...]) -> float:
        n = len(history) + 1
        lower = chance(history[1:]) if history else 1 / SIZE
        following = {gram: count for gram, count in counts[n].items() if gram[:-1] == history}
        if not following:
            return lower
        taken = given[n - 1] if given else estimated(np.array(list(counts[n].values())))
        discount = {count: taken[min(count, 3) - 1] for count in following.values()}
        total = sum(following.values())
        left = sum(discount[count] for count in following.values()) / total
        count = following.get((*history, word), 0)
        return (max(count - discount[count], 0) / total if count else 0.0) + left * lower

    return chance(tuple(context[len(context) - order + 1 :]))


@pytest.mark.parametrize("given", [None, [(0.0, 0.0, 0.0), (0.5, 0.9, 1.2), (0.75, 0.75, 0.75)]])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_is_the_definition(texts: list[np.ndarray], order: int, given: list[Discounts] | None) -> None:
    model = kneser_ney(texts, SIZE, order, given)
    draw = np.random.default_rng(1)
    contexts, words = draw.integers(0, SIZE, (60, order - 1)), draw.integers(0, SIZE, 60)
    slow = [slowly(texts, order, given, row, word) for row, word in zip(contexts.tolist(), words.tolist(), strict=True)]
    np.testing.assert_allclose(model.probabilities(contexts, words), slow, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_after_any_context_sum_to_one(texts: list[np.ndarray], order: int) -> None:
    model = kneser_ney(texts, SIZE, order)
    for context in np.random.default_rng(2).integers(-1, SIZE, (40, order - 1)):
        chances = model.probabilities(np.tile(context, (SIZE, 1)), np.arange(SIZE))
        assert chances.sum() == pytest.approx(1.0, abs=1e-12)
        assert (chances > 0).all(), "also of a token that never occurred"


def test_it_is_nltks_with_one_discount(texts: list[np.ndarray]) -> None:
    """nltk stops at the continuation counts: no discount and no uniform distribution below them."""
    lm = pytest.importorskip("nltk.lm", reason="nltk is not installed")
    from nltk.util import everygrams

    for order in (2, 3):
        theirs = lm.KneserNeyInterpolated(order, discount=0.6)
        theirs.fit(
            [list(everygrams(map(str, text), max_len=order)) for text in texts], vocabulary_text=map(str, range(SIZE))
        )
        ours = kneser_ney(texts, SIZE, order, [(0.0, 0.0, 0.0), *[(0.6, 0.6, 0.6)] * (order - 1)])
        grams = {tuple(text[at : at + order].tolist()) for text in texts for at in range(1, 100)}
        for *context, word in grams:
            told = theirs.score(str(word), list(map(str, context)))
            assert ours.probabilities(np.array([context]), np.array([word]))[0] == pytest.approx(told, rel=1e-9)


def test_a_text_is_scored_token_by_token_from_its_beginning(texts: list[np.ndarray]) -> None:
    model, text = kneser_ney(texts, SIZE, 3), texts[1][:20]
    padded = np.concatenate([[-1, -1], text])
    alone = [model.probabilities(padded[None, at : at + 2], text[None, at])[0] for at in range(len(text))]
    np.testing.assert_allclose(model.nats(text), -np.log(alone))
    assert model.nats(text)[0] == pytest.approx(kneser_ney(texts, SIZE, 3).nats(text[:1])[0])


def test_discounts_fall_back_where_too_little_occurs_and_a_text_may_be_shorter_than_its_grams() -> None:
    assert estimated(np.array([5, 7, 9])) == FALLBACK
    d1, d2, d3 = estimated(np.array([1] * 60 + [2] * 25 + [3] * 12 + [4] * 8))
    assert 0 < d1 < d2 < d3 < 3

    short = kneser_ney([np.array([1])], 3, 3)
    assert short.probabilities(np.array([[0, 1]]), np.array([1]))[0] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="too many grams"):
        kneser_ney([np.array([1])], 2**22, 3)
