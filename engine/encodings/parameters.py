"""The parameter models of the encodings: plain settings, no torch."""

from __future__ import annotations

from typing import Literal

from engine.settings import Parameters, setting


class NoParameters(Parameters):
    """For rows that have nothing to set."""


class SinusoidalParameters(Parameters):
    sinusoid_base: float = setting(
        10_000.0, label="Sinusoid base", help="b: the longest wavelength is 2πb positions.", ge=2.0, le=1e7
    )
    sinusoid_layout: Literal["interleaved", "halves"] = setting(
        "interleaved",
        label="Sinusoid layout",
        help="Sines and cosines in turn, as in the paper, or all sines before all cosines. Same similarities.",
        labels={"interleaved": "Interleaved", "halves": "Halves"},
    )


class LearnedParameters(Parameters):
    table_init_std: float | None = setting(
        None,
        label="Table init scale",
        help="Standard deviation of the table's first values. Auto ties it to the token embedding's.",
        ge=0.0,
        le=10.0,
    )


class FirstScale(Parameters):
    encoding_init_std: float | None = setting(
        None,
        label="Init scale",
        help="Root mean square of what is first added, over the trained positions. Auto ties it to the token embedding's.",
        ge=0.0,
        le=10.0,
    )


class FourierParameters(FirstScale):
    fourier_frequencies: int = setting(
        16, label="Frequencies", help="Waves whose length is learned, a sine and a cosine each.", ge=1, le=256
    )
    fourier_length_scale: float = setting(
        4.0, label="Length scale γ", help="Over so many positions the first features look alike.", ge=0.1, le=1000.0
    )
    fourier_width: int = setting(32, label="Network width", help="Hidden units after the features.", ge=1, le=512)


class PositionMlpParameters(FirstScale):
    position_mlp_width: int = setting(64, label="Network width", help="Hidden units in each layer.", ge=1, le=512)
    position_mlp_layers: int = setting(2, label="Hidden layers", help="Of the network on the position.", ge=1, le=4)


class ConvParameters(Parameters):
    conv_reach: int = setting(
        2,
        label="Reach",
        help="How many tokens before each are read; as many after it where the stack looks both ways.",
        ge=1,
        le=32,
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


class ShawParameters(Parameters):
    shaw_max_distance: int = setting(
        16, label="Clipping distance", help="K: offsets beyond ±K share one vector.", ge=1, le=512
    )
    shaw_values: bool = setting(
        True, label="Relative values", help="Also add a relative vector to the values (equation 3)."
    )


class T5BiasParameters(Parameters):
    t5_buckets: int = setting(32, label="Buckets", help="How many biases a head learns.", ge=4, le=64)
    # Half of the buckets hold one offset each: the furthest must lie beyond 64 / 2.
    t5_max_distance: int = setting(
        128, label="Furthest bucket", help="Offsets from here on share the last bucket.", ge=33, le=4096
    )


class KerpleParameters(Parameters):
    kerple_kernel: Literal["log", "power"] = setting(
        "log",
        label="Kernel",
        help="How the penalty grows with distance: r₁ log(1 + r₂ |i-j|), or r₁ |i-j|^r₂.",
        labels={"log": "Logarithmic", "power": "Power"},
    )


class FireParameters(Parameters):
    fire_width: int = setting(32, label="Network width", help="Hidden units of the function of distance.", ge=1, le=256)
    fire_c: float = setting(
        0.1,
        label="First c",
        help="In log(1 + c x): larger tells near positions apart better. Learned.",
        ge=1e-3,
        le=100.0,
    )
    fire_threshold: float | None = setting(
        None,
        label="Threshold L",
        help="Up to here distances are read as they are, beyond relative to the position. Auto: a quarter of the trained length.",
        ge=0.5,
        le=65536.0,
    )


class CopeParameters(Parameters):
    cope_counts: int = setting(
        64, label="Largest count + 1", help="Vectors that are learned; higher counts share the last.", ge=2, le=512
    )


class AlibiParameters(Parameters):
    alibi_slope_scale: float = setting(
        1.0, label="Slope scale", help="Multiplies the published slopes 2^(-8h/H).", ge=0.0, le=8.0
    )


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


class XposParameters(RotationParameters):
    xpos_scale_base: float = setting(
        512.0, label="Decay length B", help="In positions: larger lets far products fade later.", ge=1.0, le=1e6
    )
    xpos_gamma: float = setting(
        0.4, label="Decay γ", help="Larger makes the fast pairs fade less; the slowest hardly fade.", ge=0.01, le=100.0
    )


class RopeParameters(RotationParameters):
    rope_scaling: Literal["none", "pi", "ntk", "yarn"] = setting(
        "none",
        label="RoPE scaling",
        help="How rotations are slowed at test lengths beyond the trained one, without fine-tuning. Training is unchanged.",
        labels={"none": "None", "pi": "Position interpolation", "ntk": "NTK-aware", "yarn": "YaRN"},
    )
    rope_scale_factor: float | None = setting(
        None,
        label="Scale factor",
        help="s: by how much they are slowed. Auto: tested length over trained length.",
        ge=1.0,
        le=1024.0,
    )
    yarn_alpha: float = setting(
        1.0, label="YaRN α", help="Pairs with fewer turns over the trained length are slowed fully.", ge=0.0, le=64.0
    )
    yarn_beta: float = setting(
        32.0, label="YaRN β", help="Pairs with more turns over the trained length are left alone.", ge=0.1, le=1024.0
    )
