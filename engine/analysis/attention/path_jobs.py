"""The jobs on the path of an answer: finding it, and the tests of what its heads do; with their answers."""

from typing import TypedDict

from engine.analysis.attention.asked import ModelAsked, SampleAsked
from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import Path, Words
from engine.foundation.job import Job


class Fallen(TypedDict):
    """Right answers of the whole model that are wrong without a head."""

    sequences: int
    right: int
    """The right answers of the whole model."""
    without: int
    """Those that are wrong without the head."""
    without_next: int
    """Those that are wrong without the next head alone."""
    without_both: int
    """Those that are wrong without both."""


class HeadTaken(TypedDict):
    words: list[Words]
    """The verdict in one or two sentences, in pieces that name the parts of which they speak."""
    next: str
    """The name of the head that adds most to the right symbols once the head is gone; empty where there is no other head."""
    here: Fallen
    others: Fallen
    """The same in other held-out sequences."""
    loss: dict[str, float]
    """The mean loss on those, in nats: ``whole``, ``without``, ``without_next``, ``without_both``."""


class TakeHeadAway(Job[HeadTaken], function=".taken:head_taken", noun="Taking the head away"):
    """The answers that a model loses without a head, and whether another head takes over. ``text``: token names separated by
    spaces, or empty for the first held-out sequence."""

    asked: ModelAsked
    text: str
    head: Part


class FollowAnswer(Job[Path | None], function=".exchanged:path_at", noun="Following the answer"):
    """The path of the answer at a position; None where no answer is asked, and of a model whose answers have no path."""

    asked: ModelAsked
    sample: SampleAsked
    position: int


class ExchangedHere(TypedDict):
    """The exchange in one sequence."""

    places: list[int]
    """The positions of the two symbols that change places, from 0, in their order."""
    symbols: list[str]
    own: str
    """The answer to the sequence."""
    told: str
    """The answer to the other one, in which the symbols have changed places."""
    alone: str
    """The answer to the sequence where the upper head alone reads what the lower one writes on the other."""


class Exchanged(TypedDict):
    """Answers in several sequences that become those of the other sequences, in which two symbols have changed places."""

    sequences: int
    answers: int
    """The answers that are compared, at most one for each sequence: right ones, which differ from those of the other sequences."""
    alone: int
    """Those that become the other one where the upper head alone reads what the lower one writes on the other sequence."""
    wrong: int
    """Those that become neither the one nor the other then."""
    next: int
    """Those that become the other one with the next head in the place of the lower one."""
    all_senders: int
    """The same with all heads of the lower head's layer in its place."""
    all_readers: int
    """The same where all parts that read the lower head read what it writes on the other sequence."""


class PathExchanged(TypedDict):
    words: list[Words]
    """The verdict in pieces that name the parts of which they speak."""
    next: str
    """The name of the other head of the lower head's layer with which most answers change; empty where there is no other."""
    here: ExchangedHere | None
    """None where no exchange that was tried changes the answer."""
    others: Exchanged


class ExchangePath(Job[PathExchanged], function=".exchanged:path_exchanged", noun="Exchanging what a head writes"):
    """The test of the path from one head to another one in a layer above, for the answer at a position of a sequence and for others."""

    asked: ModelAsked
    sample: SampleAsked
    position: int
    sender: Part
    receiver: Part
