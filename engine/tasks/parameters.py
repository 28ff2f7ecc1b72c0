"""The parameter models of the tasks: plain settings, no torch."""

from __future__ import annotations

from typing import Literal

from engine.settings import Parameters, setting


class SymbolParameters(Parameters):
    vocab_size: int = setting(
        10, label="Symbols", help="How many different symbols there are; chance is one over it.", ge=2, le=1000
    )


class KBackParameters(SymbolParameters):
    k: int = setting(3, label="k", help="How many positions to look back.", ge=1, le=64)


class LookupParameters(SymbolParameters):
    vocab_size: int = setting(8, label="Values", help="How many different values a key can have.", ge=2, le=64)
    n_keys: int = setting(
        8, label="Keys", help="How many different keys there are; each occurs at most once.", ge=2, le=64
    )
    lookups: int = setting(
        1,
        label="Look-ups at once",
        help="So many keys in a row are asked at once, and the one answer must name all their values in order.",
        ge=1,
        le=8,
    )


def key_and_value(settings: LookupParameters) -> tuple[tuple[int, int], ...]:
    """A look-up token's two rows of the embedding: its key's, and behind all keys its value's (the last one asks)."""
    keys, values = range(settings.n_keys), range(settings.vocab_size + 1)
    return tuple((key, settings.n_keys + value) for key in keys for value in values)


class OwnPositionParameters(SymbolParameters):
    variant: Literal["tokens", "padded", "constant"] = setting(
        "tokens",
        label="Input",
        help="Random symbols at full length; random lengths with padding; or one and the same symbol everywhere.",
        labels={"tokens": "Random symbols", "padded": "Random lengths, padded", "constant": "One symbol"},
    )
    bos: bool = setting(
        False,
        label="Begin-of-sequence token",
        help="A marker before position 0: an anchor from which a causal model can count.",
    )
