"""The settings that more than one encoding has, or more than one file reads: plain, no torch."""

from __future__ import annotations

from typing import Literal

from engine.settings.fields import Parameters, setting


class NoParameters(Parameters):
    """For rows that have nothing to set."""


class FirstScale(Parameters):
    encoding_init_std: float | None = setting(
        None,
        label="Init scale",
        help="Root mean square of what is first added, over the trained positions. Auto ties it to the token embedding's.",
        ge=0.0,
        le=10.0,
    )


class DesignedParameters(Parameters):
    design_features: Literal["table", "sinusoids", "fourier", "network", "convolution"] = setting(
        "fourier",
        label="Features",
        help="What is known of a position (or, in the scores, of an offset).",
        labels={
            "table": "Table, a row for each",
            "sinusoids": "Sinusoids, geometric wavelengths",
            "fourier": "Fourier, random wavelengths",
            "network": "Network on the number",
            "convolution": "Convolution of the tokens",
        },
    )
    design_readout: Literal["direct", "linear", "network"] = setting(
        "linear",
        label="Read-out",
        help="What the features become before they act: themselves, a linear map, or a network of one hidden layer.",
        labels={"direct": "None, as they are", "linear": "Linear", "network": "Network"},
    )
    design_place: Literal["embedding", "scores", "rotation"] = setting(
        "embedding",
        label="Acts on",
        help="Added to the embedding, to the scores of each head as a function of the offset, or as angles that turn queries and keys.",
        labels={"embedding": "The embedding", "scores": "The scores", "rotation": "Queries and keys, as a rotation"},
    )
    design_learned: Literal["everything", "features", "readout", "nothing"] = setting(
        "everything",
        label="Learned",
        help="What of it is trained; the rest stays as it was drawn.",
        labels={
            "everything": "Features and read-out",
            "features": "Features only",
            "readout": "Read-out only",
            "nothing": "Nothing",
        },
    )
    design_init_std: float | None = setting(
        None,
        label="Init scale",
        help="Root mean square of what first comes out. Auto: the token embedding's; in scores 1/√d_model; as angles 1 radian.",
        ge=0.0,
        le=10.0,
    )
    design_width: int = setting(16, label="Number of features", help="Where something reads them out.", ge=1, le=256)
    design_hidden: int = setting(32, label="Hidden units", help="Of each network among the parts.", ge=1, le=256)
    design_base: float = setting(
        10_000.0, label="Longest wavelength / 2π", help="Of sinusoids, in positions.", ge=2.0, le=1e7
    )
    design_length_scale: float = setting(
        4.0, label="Length scale γ", help="Over so many positions Fourier features first look alike.", ge=0.1, le=1000.0
    )
    design_reach: int = setting(2, label="Reach", help="Of a convolution, in tokens.", ge=1, le=32)


class RotationParameters(Parameters):
    rope_base: float = setting(
        10_000.0, label="RoPE base", help="b: pair t turns by b^(-2t/d_head) a position.", ge=2.0, le=1e7
    )
    rope_layout: Literal["interleaved", "rotate_half"] = setting(
        "rotate_half",
        label="RoPE layout",
        help="Which dimensions form a pair: neighbours, or first half with second half.",
        labels={"interleaved": "Interleaved", "rotate_half": "Rotate-half"},
    )
