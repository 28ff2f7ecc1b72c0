"""The properties of an encoding that a reader may need, and the experiment that tests each."""

from __future__ import annotations

from dataclasses import dataclass

BAR = 0.5
"""The value above which a need is met: half of the range between guessing and perfect."""


@dataclass(frozen=True)
class Property:
    """A property of an encoding that a reader may need, and the experiment that tests it."""

    name: str
    label: str
    need: str
    """The need in plain words, for readers who do not know the experiment."""
    slug: str
    arm: str
    """An arm of the issue. The arms that differ from it in the encoding alone are compared."""
    metric: str
    before: str = ""
    """For properties of the form "what is kept": the number to keep."""
    task: str = ""
    """The training and test in a few words."""


PROPERTIES = (
    Property(
        "longer", "Beyond the trained length", "Sequences longer than any trained", "longer-sequences", "sinusoidal",
        "accuracy@48", "accuracy@12", "3 back, trained to 12, tested at 48",
    ),
    Property(
        "longer_copy", "The same, when copying", "Longer sequences, in a task without exact offsets", "longer-sequences",
        "copy, sinusoidal", "second_half_accuracy@12", "second_half_accuracy@8", "copying, trained to 8, tested at 12",
    ),
    Property(
        "absolute", "Absolute position", "The place itself matters, not only the distance", "no-encoding", "sinusoidal",
        "accuracy", task="reversing 12 symbols in one layer, looking both ways",
    ),
    Property(
        "shortcut", "Survives shortcuts", "Positions in my data hint at the answer", "position-shortcut", "learned, ρ .9",
        "decorrelated_accuracy", task="key and symbol where a shortcut was right nine times of ten, tested without it",
    ),
    Property(
        "seldom", "Seldom visited positions", "Most of my sequences are short, some are long", "learned-needs-data",
        "learned, mostly short", "accuracy", task="2 back, mostly short sequences, tested at full length",
    ),
)  # fmt: skip

NEEDS = {wanted.name: wanted.need for wanted in PROPERTIES} | {
    "parameters": "Few extra parameters",
    "time": "Little extra time",
}
"""The needs that a reader can choose; the last two only order the encodings that meet the others."""
