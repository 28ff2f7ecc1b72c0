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


class KeyTokenParameters(SymbolParameters):
    vocab_size: int = setting(
        4, label="Symbols", help="How many symbols there are, and as many keys; chance is one over it.", ge=2, le=1000
    )
    shortcut: float | None = setting(
        None,
        label="Shortcut strength (ρ)",
        help="How often, in training and validation, an answer is the one its position stands for. Auto: as often as by chance.",
        ge=0.0,
        le=1.0,
    )


class CueMajorityParameters(SymbolParameters):
    vocab_size: int = setting(
        10, label="Symbols", help="How many symbols there are; the upper half counts as high.", ge=2, le=1000
    )
    cue_agreement: float = setting(
        0.5,
        label="Cue agreement (ρ)",
        help="How often, in training and validation, the cue is the answer. One half: it says nothing.",
        ge=0.0,
        le=1.0,
    )
    cue_randomised: float = setting(
        0.0, label="Cue randomised", help="Share of sequences whose cue is drawn at random instead.", ge=0.0, le=1.0
    )
    cue_blanked: float = setting(
        0.0, label="Cue blanked", help="Share of sequences whose cue is replaced by a blank.", ge=0.0, le=1.0
    )
