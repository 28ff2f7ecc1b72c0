"""Interpolated Kneser-Ney smoothing: the counting model with which text models are compared.

Source: Chen and Goodman 1998, An Empirical Study of Smoothing Techniques for Language Modeling, section 3 (modified
Kneser-Ney): the highest order counts occurrences, every lower one in how many different contexts a gram occurs, and each
order gives part of its mass to the next lower one. The lowest gives to the uniform distribution, so that every token of
the vocabulary has some; the probabilities of the tokens after any context sum to one exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# tokens in a gram of each counting model, the predicted token included
ORDERS = {"unigram": 1, "bigram": 2, "trigram": 3}
Discounts = tuple[float, float, float]  # the parts subtracted from a count of one, of two, and of three or more
# for a text so small that some of the counts which the estimate needs do not occur
FALLBACK: Discounts = (0.75, 0.75, 0.75)


@dataclass(frozen=True)
class Order:
    """The grams of one length: the share of each context that its words have, and the share that remains for the next lower order."""

    grams: np.ndarray  # [gram] context and word in one number, ascending
    shares: np.ndarray  # [gram] the discounted count over the context's
    contexts: np.ndarray  # [context] ascending
    backoff: np.ndarray  # [context] the share that discounting leaves to the lower order

    def mix(self, contexts: np.ndarray, words: np.ndarray, size: int, lower: np.ndarray) -> np.ndarray:
        """Probabilities [row] of words after contexts, given those of the lower order."""
        share = _look_up(self.grams, self.shares, contexts * size + words, absent=0.0)
        mixed: np.ndarray = share + _look_up(self.contexts, self.backoff, contexts, absent=1.0) * lower
        return mixed


@dataclass(frozen=True)
class KneserNey:
    """``orders[k]`` looks k tokens back."""

    size: int
    orders: tuple[Order, ...]

    def probabilities(self, contexts: np.ndarray, words: np.ndarray) -> np.ndarray:
        """P(word | context) for contexts [row, order - 1], the latest token last, and words [row]: [row].

        A context token of -1 is empty; those before it do not count.
        """
        chances = np.full(len(words), 1.0 / self.size)
        for back, order in enumerate(self.orders):
            known = contexts[:, contexts.shape[1] - back :]  # [row, back]
            whole = (known >= 0).all(axis=1)
            chances = np.where(whole, order.mix(_packed(known, self.size), words, self.size, chances), chances)
        return chances

    def nats(self, text: np.ndarray) -> np.ndarray:
        """-ln P of each token of a text [token], given those before it: [token]."""
        back = len(self.orders) - 1
        padded = np.concatenate([np.full(back, -1), text])
        contexts = np.stack([padded[k : k + len(text)] for k in range(back)], axis=1) if back else text[:, None][:, :0]
        nats: np.ndarray = -np.log(self.probabilities(contexts, text))
        return nats


def kneser_ney(
    texts: Sequence[np.ndarray], size: int, order: int, discounts: Sequence[Discounts] | None = None
) -> KneserNey:
    """Count texts ([token] each, numbers below ``size``) in grams of up to ``order`` tokens; no gram spans two texts.

    ``discounts``: for each order from the lowest; by default estimated from the counts. Raises ValueError if the grams of a vocabulary
    are too many to be numbered.
    """
    if size**order > 2**63:
        raise ValueError(f"{order} tokens of a vocabulary of {size:,} are too many grams to number.")
    orders: list[Order] = []
    grams, counts = _count(texts, size, order)
    for length in range(order, 0, -1):
        given = discounts[length - 1] if discounts is not None else estimated(counts)
        orders.insert(0, _order(grams, counts, size, given))
        # A shorter gram counts once for each different token that stands before it.
        grams, counts = np.unique(grams % size ** (length - 1), return_counts=True)
    return KneserNey(size, tuple(orders))


def estimated(counts: np.ndarray) -> Discounts:
    """D1, D2 and D3+ of modified Kneser-Ney from the numbers of grams that occur once to four times (equation 26)."""
    once, twice, thrice, four = (int((counts == n).sum()) for n in (1, 2, 3, 4))
    if not once or not twice or not thrice:
        return FALLBACK
    y = once / (once + 2 * twice)
    estimate = (1 - 2 * y * twice / once, 2 - 3 * y * thrice / twice, 3 - 4 * y * four / thrice)
    return estimate if all(0 <= d <= n for n, d in enumerate(estimate, start=1)) else FALLBACK


def _count(texts: Sequence[np.ndarray], size: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    runs = [np.lib.stride_tricks.sliding_window_view(text, length) for text in texts if len(text) >= length]
    packed = [_packed(run, size) for run in runs] or [np.empty(0, dtype=np.int64)]
    return np.unique(np.concatenate(packed), return_counts=True)


def _order(grams: np.ndarray, counts: np.ndarray, size: int, discounts: Discounts) -> Order:
    contexts, first = np.unique(grams // size, return_index=True)
    subtracted = np.asarray(discounts)[np.minimum(counts, len(discounts)) - 1]
    occurs, discounted = (np.add.reduceat(part, first) if len(first) else part for part in (counts, subtracted))
    each = np.diff(np.append(first, len(grams)))  # [context] how many grams
    return Order(grams, (counts - subtracted) / np.repeat(occurs, each), contexts, discounted / occurs)


def _packed(tokens: np.ndarray, size: int) -> np.ndarray:
    """The tokens as the digits of one number: [row, token] -> [row]."""
    number = np.zeros(len(tokens), dtype=np.int64)
    for column in tokens.T:
        number = number * size + column
    return number


def _look_up(keys: np.ndarray, values: np.ndarray, queried: np.ndarray, *, absent: float) -> np.ndarray:
    """The values [row] of the queried keys, ``absent`` if there is none."""
    if not len(keys):
        return np.full(len(queried), absent)
    rows = np.searchsorted(keys, queried).clip(max=len(keys) - 1)
    return np.where(keys[rows] == queried, values[rows], absent)
