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


class PermutationParameters(SymbolParameters):
    permutation_seed: int = setting(
        0, label="Permutation", help="Which order is asked for; the run's seed does not change it.", ge=0, le=2**31 - 1
    )


class ContentOffsetParameters(SymbolParameters):
    max_offset: int = setting(
        4, label="Largest offset", help="Each token asks for the symbol 1 to so many positions back.", ge=1, le=64
    )


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


class MarkovParameters(SymbolParameters):
    vocab_size: int = setting(
        12, label="Symbols", help="How many different symbols there are; the table has their number cubed.", ge=2, le=64
    )
    dirichlet_alpha: float = setting(
        0.3, label="Evenness (Dirichlet α)", help="Small: after two symbols nearly one can follow. Large: nearly any.",
        ge=0.01, le=100.0,
    )  # fmt: skip
    source_seed: int = setting(
        0, label="Source", help="Which table; the run's seed draws sequences from it.", ge=0, le=2**31 - 1
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
