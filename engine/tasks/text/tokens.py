"""Tokens of a text and their numbers: single characters, or words and the characters between them."""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise, repeat
from typing import Literal

import numpy as np

from engine.foundation.formatting import fine_percent
from engine.foundation.once import once
from engine.settings.errors import quoted

Unit = Literal["characters", "words"]
UNKNOWN = 0  # everything that is not in the vocabulary
UNKNOWN_NAME = "�"
WORD = re.compile(r"\w")
# the line ends of other systems: carriage return, vertical tab and form feed, and Unicode's own signs
LINE_END = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
# categories that belong to the character before them: marks, such as vowel signs, and joiners and other format characters
EXTENDING = ("Mn", "Mc", "Me", "Cf")
# Further signs that belong to the character before them: skin tones, the letters of a region's flag, and joiners. Other format
# characters, such as marks of direction, are characters by themselves.
SIGNS = "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u200c\u200d"
BREAK = "\u200b"  # the one format character that parts words: a space of no width, as in Khmer
VISIBLE = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥"})
SPACE = " "


def normalised(text: str) -> str:
    """The text with one kind of line end, and each letter with its accents in one form (Unicode's form C)."""
    # else the same text from two systems would give different tokens
    return unicodedata.normalize("NFC", LINE_END.sub("\n", text))


def _of(*categories: str) -> list[str]:
    planes = chain(range(0x80, 0x20000), range(0xE0000, 0xE1000))  # in the others is nothing of what is asked for here
    return [c for c in map(chr, planes) if unicodedata.category(c) in categories]


@once
def _character() -> re.Pattern[str]:
    """A character as a reader sees it: with its accents and vowel signs; a picture of joined signs; the two letters of a flag.

    Source: Unicode Standard Annex 29, grapheme clusters. Line ends are one sign each, and Hangul is composed (:func:`normalised`).
    """
    marks, pictures = "".join(_of("Mn", "Mc", "Me")), "".join(_of("So"))
    near = re.sub("[^\0-\uffff]", "", marks)
    # Most are followed by a letter: that is asked first, since it is soon answered.
    extenders = rf"(?:(?![\0-\u02ff])(?:[{near}\u200c\u200d]|(?![\0-\uffff])[{marks}{SIGNS}]))*"
    return re.compile(rf"[\U0001f1e6-\U0001f1ff]{{2}}|.{extenders}(?:(?<=\u200d)[{pictures}]{extenders})*", re.DOTALL)


@once
def _piece() -> re.Pattern[str]:
    """A word, or the signs between two: anything but a single space, and that too if the text begins or ends with it.

    A word is letters and digits, each with what extends it. Source: Unicode Standard Annex 29, Unicode Text Segmentation, rule WB4.
    """
    marks = "".join(_of(*EXTENDING)).replace(BREAK, "")
    # Most words end before an ASCII character: that is asked first, since it is soon answered.
    return re.compile(rf"\w+(?:(?![\0-\x7f])[{marks}]+\w*)*|\A\W+|\W+\Z|\W{{2,}}|[^\w ]")


def pieces(text: str, unit: Unit) -> Sequence[str]:
    """Split the text into characters, or at word boundaries; a single space between two words is left out."""
    if unit == "characters" and text.isascii():
        return text
    # one string for all equal pieces: the plays have a million of them
    return list(map(sys.intern, _pattern(unit).findall(text)))


def _pattern(unit: Unit) -> re.Pattern[str]:
    return _character() if unit == "characters" else _piece()


def has_pieces(text: str, unit: Unit, count: int) -> bool:
    # read only as far as needed
    found = _pattern(unit).finditer(text)
    return any(True for _ in islice(found, count - 1, None))


def joined(parts: Sequence[str], unit: Unit) -> str:
    if unit == "characters":
        return "".join(parts)
    gaps = [SPACE if is_word(before) and is_word(part) else "" for before, part in pairwise(["", *parts])]
    return "".join(gap + part for gap, part in zip(gaps, parts, strict=True))


def is_word(piece: str) -> bool:
    """True for a word, false for layout: spaces, line ends and punctuation."""
    return WORD.match(piece) is not None


def name_of(piece: str) -> str:
    """A piece on a picture: line ends visible, and spaces if there is nothing else; its numbers in Unicode if nothing could be seen."""
    name = (piece.strip(SPACE) or piece).translate(VISIBLE)
    return name if any(map(str.isprintable, name)) else " ".join(f"U+{ord(c):04X}" for c in name)


def unknown_in_words(unknown: list[str]) -> str:
    named = ", ".join(quoted(name_of(piece)) for piece in unknown[:8])
    more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
    verb = "is" if len(unknown) == 1 else "are"
    return f"{named}{more} {verb} not in the vocabulary: the model reads the unknown token there."


def unknown_beside(share: float) -> str:
    """ "0.3 % unknown", for a number of a text; empty if there are none."""
    return f"{fine_percent(share)} unknown" if share else ""


@dataclass(frozen=True)
class Vocabulary:
    """The commonest pieces, numbered from 1; number 0 is everything else."""

    numbers: dict[str, int]

    def encode(self, text: Sequence[str]) -> np.ndarray:
        """Token numbers, [token] int64."""
        return np.fromiter(map(self.numbers.get, text, repeat(UNKNOWN)), dtype=np.int64, count=len(text))

    def spelled(self, tokens: Iterable[int]) -> list[str]:
        spellings = (UNKNOWN_NAME, *self.numbers)
        return [spellings[token] for token in tokens]

    def names(self, size: int) -> tuple[str, ...]:
        """The piece of each token number, with spaces and line ends made visible; [size]."""
        known = [UNKNOWN_NAME, *map(name_of, self.numbers)]
        return (*known, *[UNKNOWN_NAME] * (size - len(known)))


def vocabulary_of(texts: Iterable[Sequence[str]], size: int) -> Vocabulary:
    """The ``size - 1`` commonest pieces; equally common ones in the order of their characters."""
    counts = Counter[str]()
    for text in texts:
        counts.update(text)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: size - 1]
    return Vocabulary({piece: number for number, (piece, _) in enumerate(ranked, start=1)})
