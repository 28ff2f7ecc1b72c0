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


class ParityParameters(Parameters):
    vocab_size: int = setting(
        2, label="Symbols", help="Two make it parity; more, the sum modulo their number.", ge=2, le=1000
    )


class DyckParameters(Parameters):
    vocab_size: int = setting(
        2, label="Symbols", help="The lower half open a bracket, the others close one.", ge=2, le=1000
    )
    max_depth: int = setting(4, label="Greatest depth", help="The depth is counted from 0 to here.", ge=1, le=64)


class RecallParameters(Parameters):
    vocab_size: int = setting(8, label="Symbols", help="The lower half are keys, the others values.", ge=4, le=1000)


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
