"""The finding about a claim, its words, and the number of seeds that can decide. :mod:`engine.experiments.verdict`
computes it."""

from enum import StrEnum

FEWEST_SEEDS = 6  # the fewest seeds that can decide: with five the lowest p is .0625
READERS_SEEDS = 8
LEARNED_SEEDS = 0.75  # the share of the seeds in which a model must have learned the task that a claim rests on


class Finding(StrEnum):
    HOLDS = "holds"
    OPPOSITE = "opposite"
    SMALL = "too small"
    CANNOT_TELL = "cannot tell"
    UNDECIDED = "undecided"

    @property
    def decided(self) -> bool:
        """True if the runs say something about the claim, not only about themselves."""
        return self in (Finding.HOLDS, Finding.OPPOSITE, Finding.SMALL)

    @property
    def words(self) -> str:
        return WORDS[self]


WORDS = {
    Finding.HOLDS: "Holds",
    Finding.OPPOSITE: "The opposite holds",
    Finding.SMALL: "Too small to count here",
    Finding.CANNOT_TELL: "Cannot tell here",
    Finding.UNDECIDED: "Undecided",
}

# markdown for the pages and the table of evidence
RULE = f"""\
- *{Finding.HOLDS.words}*: the 95 % interval (paired t, seed by seed) excludes zero on the claimed side, the exact sign-flip p is below .05,
  and the effect reaches the smallest size that counts, declared before.
- *{Finding.OPPOSITE.words}*: the same on the other side.
- *{Finding.SMALL.words}*: the whole interval is nearer to zero than this size.
- *{Finding.CANNOT_TELL.words}*: an arm has learned the task in fewer than {100 * LEARNED_SEEDS:g} % of the seeds, or its best
  rate is the last one tried. Also if the effect is small with a number at the best value, the worst or chance, or with less room than
  this size, or undecided with all numbers at such a value.
- *{Finding.UNDECIDED.words}*: all others, and all with fewer than {FEWEST_SEEDS} seeds. With {2 * READERS_SEEDS} or more, also an effect
  that is large enough but has a p of .05 or more after Holm's correction within its question.
- *Computed*: a formula, a count or a theorem."""


def contradict(one: Finding, other: Finding) -> bool:
    return one.decided and other.decided and one is not other
