"""The first screen of an issue: one question, the one figure that answers it, and the sentence computed from the seeds.

A key figure compares two rows, before and after one change. The question asks what happens to the number from the first row
to the second: it is lower, the same, or higher. Nothing here holds a result.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.experiments.experiment import Experiment, Values
from engine.experiments.finding import FEWEST_SEEDS, Finding
from engine.experiments.question import Direction, Question
from engine.experiments.report import Report
from engine.experiments.statistics import Weighed
from engine.foundation.formatting import counted
from engine.foundation.tables import Text

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ZERO = 0.005  # a value nearer to zero is written as 0


class Row(NamedTuple):
    """A row of a key figure: one number of one arm, a dot for each seed."""

    label: str
    arm: str
    metric: str


@dataclass(frozen=True, kw_only=True)
class KeyFigure:
    sample: str
    """A worked sample of the data: the input and the answer."""
    question: Text
    answers: tuple[str, str, str] = ("It falls", "No change", "It rises")
    """For a lower, an equal and a higher number in the second row."""
    quantity: str
    """The title of the axis."""
    subject: str
    """The number in the sentence, such as "accuracy"."""
    change: str
    """The difference of the second row, as the sentence begins: "Without skip connections"."""
    rows: tuple[Row, ...]
    """The rows before and after the change, then further ones, such as the remedy next to the model that it repairs."""
    remedy: str
    remedy_claims: tuple[str, ...] = ()
    """The ids of the claims on which the remedy rests; empty if it says "may"."""
    because: Text = ""
    """The end of a sentence that begins with "Because"; it is shown only if the claim holds."""
    because_claims: tuple[str, ...] = ()
    """The ids of the claims on which the reason rests; empty if it says "may"."""
    unit: str = ""
    """Such as "nats"; empty for shares."""
    claim: str
    """The id of the claim that decides the answer."""
    long_claims: tuple[str, ...] = ()
    """The ids of further claims, each on two arms, that have long runs as the rows do."""
    level: float = 0.9
    """The accuracy to which steps are counted in the long runs of its rows (:mod:`engine.experiments.long_findings`)."""

    @property
    def asks(self) -> Question:
        return Question(self.question, self.answers, self.claim, self.sample)

    @property
    def before(self) -> Row:
        return self.rows[0]

    @property
    def after(self) -> Row:
        return self.rows[1]

    def name_of(self, arm: str) -> str:
        """The label of an arm's row; the arm itself if it has several rows, or none."""
        labels = [row.label for row in self.rows if row.arm == arm]
        return labels[0] if len(labels) == 1 else arm

    def steps(self, experiment: Experiment) -> int:
        """The steps after which the two rows are compared; 0 if they differ, or nothing is trained."""
        before, after = (experiment.config(experiment.arm(row.arm)).steps for row in (self.before, self.after))
        return before if before == after > 1 else 0

    def format_value(self, value: float) -> str:
        return "0" if abs(value) < ZERO else number(value)


@dataclass(frozen=True)
class KeyFinding:
    before: float
    """The mean over the seeds that have both numbers, as ``after`` is."""
    after: float
    seeds: int
    agreeing: int
    """The number of seeds that differ in the direction of the means."""
    answer: Direction | None
    """The right one; None before there is one, or if the runs cannot tell."""
    also_right: Direction | None
    """Another right answer: the sign of an effect that is there and too small to count."""
    sentence: str
    because: str
    """One sentence; empty unless the claim holds."""

    @property
    def right(self) -> tuple[Direction, ...]:
        return tuple(answer for answer in (self.answer, self.also_right) if answer is not None)


def paired(values: Values, before: Row, after: Row) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of two rows, each [seed], of the seeds that have both."""
    first, second = values(before.arm, before.metric), values(after.arm, after.metric)
    both = np.isfinite(first) & np.isfinite(second)
    return first[both], second[both]


def key_finding_in(figure: KeyFigure, report: Report, **words: str) -> KeyFinding | None:
    """``words``: see :func:`key_finding_of`."""
    steps = figure.steps(report.experiment)
    return key_finding_of(figure, report.values, report.claim(figure.claim).weighed, steps=steps, **words)


def key_finding_of(
    figure: KeyFigure, values: Values, weighed: Weighed, *, steps: int = 0, subject: str = "", seed: str = "seed"
) -> KeyFinding | None:
    """The answer of the seeds so far; None before the first seed has both numbers.

    ``values``: the numbers by arm and metric. ``weighed``: the verdict on the figure's claim. ``steps``: those of both
    rows, 0 to omit them. ``subject``: the beginning of the sentence, by default the change and the number. ``seed``:
    the word for a seed.
    """
    first, second = paired(values, figure.before, figure.after)
    if not len(first):
        return None
    before, after = float(first.mean()), float(second.mean())
    sign: Direction = (after > before) - (after < before)  # type: ignore[assignment]
    agreeing = int((np.sign(second - first) == sign).sum())
    small = weighed.finding is Finding.SMALL
    answer: Direction | None = 0 if small else sign if weighed.finding.decided else None
    also_right = sign if small and weighed.excludes_zero else None
    verb = {-1: "falls", 0: "stays", 1: "rises"}[sign]
    old, new, all_of_them = figure.format_value(before), figure.format_value(after), counted(len(first), seed)
    subject = subject or f"{figure.change} {figure.subject}"
    unit = f" {figure.unit}" if figure.unit else ""
    after_steps = f" after {steps:,} steps" if steps else ""
    words = f"{subject} {verb} from {old} to {new}{unit}{after_steps}, in {agreeing} of {all_of_them}."
    if (old == new and not answer) or (small and also_right is None):
        words = f"{subject} stays about the same{after_steps}: {old} and {new}{unit}, over {all_of_them}."
    sentence = " ".join(filter(None, (words, _doubt(weighed, len(first), also_right is not None))))
    because = figure.because if weighed.finding is Finding.HOLDS else ""
    return KeyFinding(before, after, len(first), agreeing, answer, also_right, sentence, because)


def _doubt(weighed: Weighed, seeds: int, shows_sign: bool) -> str:
    """The second sentence, on what the seeds leave open; empty if they decide. ``shows_sign``: a small effect has a
    sign."""
    if seeds < FEWEST_SEEDS:
        return f"At least {counted(FEWEST_SEEDS - seeds, 'more seed')} must run before we can decide."
    match weighed.finding:
        case Finding.SMALL:
            return "That is too small to count here." if shows_sign else ""
        case Finding.CANNOT_TELL:
            return f"These runs cannot tell. {weighed.why}"
        case Finding.UNDECIDED:
            return "These seeds do not decide it."
    return ""


def number(value: float) -> str:
    """A number of a sentence: a share as ``0.99``, a large number with separators, others with three digits."""
    if value != 0 and (abs(value) < 0.001 or abs(value) >= 1e6):
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 1 and value != 1:
        return f"{value:.3g}"
    short = f"{value:.2f}"
    return {"1.00": "1", "0.00": "0", "-0.00": "0"}.get(short, short)
