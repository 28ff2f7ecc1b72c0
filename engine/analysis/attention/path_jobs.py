"""The jobs on the path of an answer: finding it, and the tests of what its heads do. These are answered by a verdict in words, in pieces
that name the parts of which they speak."""

from engine.analysis.attention.asked import ModelAsked, SampleAsked
from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import Path, Words
from engine.foundation.job import Job


class TakeHeadAway(Job[list[Words]], function=".taken:head_taken", noun="Taking the head away"):
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


class ExchangePath(Job[list[Words]], function=".exchanged:path_exchanged", noun="Exchanging what a head writes"):
    """The test of the path from one head to another one in a layer above, for the answer at a position of a sequence and for others."""

    asked: ModelAsked
    sample: SampleAsked
    position: int
    sender: Part
    receiver: Part
