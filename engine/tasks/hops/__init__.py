"""Hops: 0 1 2 0 → · · · 1. At each position, go to the symbol after the last earlier occurrence of the present one, ``n_hops`` times,
and name the symbol there. If a hop leads nowhere, since the symbol is new, there is no question.

One hop is an induction head (Olsson et al. 2022, In-context Learning and Induction Heads): one layer writes the previous symbol
into each position, and the next layer finds the position by that symbol. Source: k-hop induction heads, Sanford, Hsu and Telgarsky
2024, Transformers, Parallel Computation, and Logarithmic Depth (arXiv 2402.09268), section 4; no symbol follows itself, as in
their experiments.

Some guesses are better than chance. Of 4 symbols at 32 positions the answer is the symbol before in .52 with one hop and .36 with three,
and the current symbol in .52 with two hops and .36 with four; with repeats, in .65, .59, .67 and .62.
"""

from collections.abc import Iterator
from math import exp

from engine.foundation.formatting import counted
from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, Breach, SymbolSettings, TaskSpec


class HopsSettings(SymbolSettings):
    vocab_size: int = setting(
        4, "Symbols", "Number of different symbols. With more, guessing is harder.", ge=3, le=1000
    )
    n_hops: int = setting(1, "Hops", "Number of hops. Each goes to the symbol that came next last time.", ge=1, le=16)
    repeats: bool = setting(
        False, "Repeats", "Lets a symbol follow itself. From there, a hop leads back to the same place."
    )

    def distinct(self, length: int) -> float:
        return int(self.vocab_size * (self.vocab_size - (not self.repeats)) ** (length - 1))

    def sample(self, usual: str) -> str:
        question = ["0", "1", *("20"[position % 2] for position in range(self.n_hops + 1))]
        answers = ["·"] * (self.n_hops + 2) + ["1"]
        return f"{counted(self.n_hops, 'hop')}: {' '.join(question)} → {' '.join(answers)}"

    def answered_share(self, length: int) -> float:
        again = 1 / (self.vocab_size - (not self.repeats))
        lead_on = [1.0] * length  # the probability, by position, that the hops so far lead somewhere from there
        for _ in range(self.n_hops):
            before, lead_on = lead_on, [0.0, 0.0]
            for position in range(2, length):
                # The symbol stood two places before, or the place before is as good as this one.
                lead_on.append(again * before[position - 1] + (1 - again) * lead_on[position - 1])
        stays = again if self.repeats else 0.0  # it follows itself
        return sum(stays + (1 - stays) * share for share in lead_on[1:length])

    def broken_rules(self, config: BaseConfig) -> Iterator[Breach]:
        shortest = min([config.min_seq_len or config.seq_len, *config.test_lengths])
        if not self.repeats and self.n_hops > shortest - 2:
            yield (
                "n_hops",
                f"a whole number from 1 to {shortest - 2}: in the shortest sequence no more hops lead anywhere",
            )

    def warnings(self, config: BaseConfig) -> Iterator[str]:
        if config.family in LABELLER and config.n_layers <= self.n_hops:
            yield (
                f"{counted(self.n_hops, 'hop')} with {counted(config.n_layers, 'layer')}: in our runs, learning this took more layers than "
                f"hops. In theory {self.n_hops.bit_length() + 1} layers suffice (Sanford et al. 2024, section 4), but training may fail."
            )
        asks_nothing = exp(-config.batch_size * self.answered_share(config.seq_len))
        if asks_nothing * config.steps >= 1:
            yield (
                f"About {asks_nothing:.0%} of the batches contain no question, because few symbols occur twice. Such a step has no loss. "
                "Remedy: fewer symbols, a larger batch or length."
            )


SPEC = TaskSpec(
    "hops", "Hops",
    "Find the last time this symbol appeared, and name the symbol that came next. Repeat for each hop.",
    "1 hop: 0 1 2 0 → · · · 1", HopsSettings, LABELLER, group="symbol", order_matters=True, shortest=3,
)  # fmt: skip
