"""The parameter models of the tasks: plain settings, no torch."""

from __future__ import annotations

from typing import Literal

from engine.settings.fields import Parameters, setting


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


class TextParameters(Parameters):
    text: str = setting(
        "shakespeare",
        label="Text",
        help="The plays of Shakespeare, or the name under which a text of your own is kept.",
    )
    plays: int = setting(
        4,
        label="Plays",
        help="How many plays to train on; four others are held out. Not for a text of your own.",
        ge=1,
        le=34,
    )
    text_tokens: int | None = setting(
        None,
        label="Training text",
        help="Only so many tokens in a row, from a place that the seed decides. Auto: all.",
        ge=64,
        le=10_000_000,
    )
    windows: Literal["non_overlapping", "overlapping"] = setting(
        "overlapping",
        label="Windows",
        help="Whether the stretches that the text is cut into share tokens.",
        labels={"non_overlapping": "Side by side", "overlapping": "Overlapping"},
    )
    stride: int = setting(
        1, label="Stride", help="Tokens from the start of one overlapping window to that of the next.", ge=1, le=1024
    )
    split: Literal["plays", "windows", "none"] = setting(
        "plays",
        label="Held out",
        help="Other plays (the last tenth of a text of your own), one window in five, or nothing: the same windows again.",
        labels={"plays": "Other plays", "windows": "Windows at random (fault)", "none": "Nothing (fault)"},
    )


class CharacterParameters(TextParameters):
    vocab_size: int = setting(
        80, label="Characters", help="The commonest ones; all others are one unknown token.", ge=2, le=1000
    )


class WordParameters(TextParameters):
    vocab_size: int = setting(
        1000, label="Words", help="The commonest ones; all others are one unknown token.", ge=2, le=30_000
    )
    plays: int = setting(
        34,
        label="Plays",
        help="How many plays to train on; four others are held out. Not for a text of your own.",
        ge=1,
        le=34,
    )


def key_and_value(settings: LookupParameters) -> tuple[tuple[int, int], ...]:
    """A look-up token's two rows of the embedding: its key's, and after the rows of all keys its value's (the last one asks)."""
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
