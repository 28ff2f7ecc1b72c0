"""Look-up: c1 a0 b3 b? → · · · 3. Pairs of a key and its value, one token each, then the asked key.

A token's number is ``key * (values + 1) + value``; the value one above all others asks. A token's embedding is the sum of its key's row
and its value's, so that one position holds both.

With several look-ups at once the keys from the asked one on count, in order (after the last comes the first), and the one answer names
all their values: c1 a0 b3 b? → · · · 3 1 for b and c. One position has to fetch them all.
"""

from collections.abc import Iterator

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, Breach, SymbolSettings, TaskSpec

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"
MAX_ANSWERS = 4096


class LookupSettings(SymbolSettings):
    vocab_size: int = setting(8, "Values", "Number of different values.", ge=2, le=64)
    n_keys: int = setting(8, "Keys", "Number of different keys. Each occurs at most once.", ge=2, le=64)
    lookups: int = setting(
        1, "Look-ups at once",
        "Number of keys asked at once. The answer names all their values in order.", ge=1,
        le=8,
    )  # fmt: skip

    @property
    def n_symbols(self) -> int:
        return self.n_keys * (self.vocab_size + 1)

    @property
    def token_parts(self) -> tuple[tuple[int, int], ...]:
        """Each token's two rows of the embedding: its key's, and after the rows of all keys its value's (the last one asks)."""
        keys, values = range(self.n_keys), range(self.vocab_size + 1)
        return tuple((key, self.n_keys + value) for key in keys for value in values)

    @property
    def sister_symbols(self) -> int:
        return 0

    def n_answers(self, config: BaseConfig) -> int:
        return int(self.vocab_size**self.lookups)

    def distinct(self, length: int) -> float:
        # values and query, without the choice and order of the keys
        return int(self.vocab_size ** (length - 1) * self.n_keys)

    def token_name(self, token: int) -> str:
        key, value = divmod(token, self.vocab_size + 1)
        return f"{LETTERS[key]}{'?' if value == self.vocab_size else value}"

    def answer_name(self, answer: int) -> str:
        digits = [answer // self.vocab_size**digit % self.vocab_size for digit in range(self.lookups)]
        return " ".join(map(str, reversed(digits)))

    def broken_rules(self, config: BaseConfig) -> Iterator[Breach]:
        shortest, longest = config.min_seq_len or config.seq_len, max(config.seq_len, *config.test_lengths, 0)
        if longest > self.n_keys + 1:
            yield "n_keys", f"a whole number from {longest - 1}: a sequence is pairs of different keys, then the query"
        if self.lookups > shortest - 1:
            yield "lookups", f"a whole number from 1 to {shortest - 1}, the pairs in the shortest sequence"
        if self.n_answers(config) > MAX_ANSWERS:
            yield "lookups", f"a number that makes at most {MAX_ANSWERS} answers (vocab_size to its power)"


SPEC = TaskSpec(
    "lookup", "Look-up", "Find the pair with this key and name its value.", "c1 a0 b3 b? → · · · 3",
    LookupSettings, LABELLER, group="symbol",
)  # fmt: skip
