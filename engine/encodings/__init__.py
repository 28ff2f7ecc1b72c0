"""The registry of positional encodings. Torch-free: implementations are imported by workers only.

To add one: write ``engine/encodings/<name>.py`` with a small class, and add one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from engine.encodings import parameters as p
from engine.encodings.design import decided_by
from engine.settings import Parameters

if TYPE_CHECKING:
    from engine.config import RunConfig

Place = Literal["nowhere", "embedding", "scores", "rotation"]


@dataclass(frozen=True)
class EncodingRow:
    """One encoding: what it is called, where it acts, what it computes and where it was published."""

    name: str
    label: str
    acts_on: Place
    parameters: type[Parameters]
    equation: str
    """TeX, in the notation of the source."""
    source: str
    implementation: str
    """``module:Class``; the class is built as ``Class(config)``."""
    color: str
    """Its one colour in the whole app; readable on light and dark."""
    per_layer: bool = False
    """Whether every layer owns one (Shaw) or all layers share one (T5, RoPE)."""
    relative: bool = False
    """Whether shifting all positions changes nothing."""
    numbered: bool = True
    """Whether it reads the numbers of positions, not only which token comes before which."""
    decided_by: Callable[[Any], dict[str, Any]] | None = None
    """From its parameters: the fields of this row that they decide. See :func:`encoding_of`."""
    symbols: tuple[tuple[str, str], ...] = ()
    """Symbols of the equation that stand for a setting (or ``head_width``): what :mod:`engine.encodings.formula` puts in."""
    shown_as: str = ""
    """What its picture leaves out, in a sentence, where what it does depends on what the tokens say."""

    def load(self) -> Any:
        """The class that implements it. Imports torch: workers only."""
        module, _, name = self.implementation.partition(":")
        return getattr(import_module(module), name)


ENCODINGS: dict[str, EncodingRow] = {
    row.name: row
    for row in (
        EncodingRow(
            "nope",
            "None (NoPE)",
            "nowhere",
            p.NoParameters,
            r"h_i^{(0)} = E_{x_i}",
            "Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization",
            "engine.encodings.nope:NoEncoding",
            "#8C8C8C",
            relative=True,
            numbered=False,
        ),
        EncodingRow(
            "sinusoidal",
            "Sinusoidal",
            "embedding",
            p.SinusoidalParameters,
            r"P_{i,2j} = \sin(i\,b^{-2j/d}),\quad P_{i,2j+1} = \cos(i\,b^{-2j/d})",
            "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
            "engine.encodings.sinusoidal:Sinusoidal",
            "#2F7FD6",
            symbols=(("b", "sinusoid_base"), ("d", "d_model")),
        ),
        EncodingRow(
            "learned",
            "Learned table",
            "embedding",
            p.LearnedParameters,
            r"h_i^{(0)} = E_{x_i} + P_i,\quad P \in \mathbb{R}^{n \times d}\ \text{trained}",
            "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1",
            "engine.encodings.learned:Learned",
            "#D9822B",
            symbols=(("n", "seq_len"), ("d", "d_model")),
        ),
        EncodingRow(
            "fourier",
            "Learned Fourier features",
            "embedding",
            p.FourierParameters,
            r"h_i^{(0)} = E_{x_i} + \mathrm{MLP}(r_i),\quad r_i = \tfrac{1}{\sqrt{F}}[\cos(i w)\,\|\,\sin(i w)],\ w\ \text{trained}",
            "Li et al. 2021, Learnable Fourier Features for Multi-Dimensional Spatial Positional Encoding",
            "engine.encodings.fourier:Fourier",
            "#05A0C7",
            symbols=(("F", "fourier_frequencies"),),
        ),
        EncodingRow(
            "shaw",
            "Shaw relative",
            "scores",
            p.ShawParameters,
            r"e_{ij} = q_i \cdot (k_j + a^K_{\mathrm{clip}(j-i,\,\pm K)}) / \sqrt{d_h}",
            "Shaw et al. 2018, Self-Attention with Relative Position Representations, eq. 3-5",
            "engine.encodings.shaw:Shaw",
            "#7A5AE0",
            per_layer=True,
            relative=True,
            symbols=(("K", "shaw_max_distance"), ("d_h", "head_width")),
            shown_as=(
                "What it adds to a score is the query's dot product with the vector of the offset, so it differs from token to token. "
                "Shown are the vectors, and how alike each is to the vector of offset 0."
            ),
        ),
        EncodingRow(
            "t5_bias",
            "T5 bias",
            "scores",
            p.T5BiasParameters,
            r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} + b_{h,\,\mathrm{bucket}(j-i)}",
            "Raffel et al. 2020, Exploring the Limits of Transfer Learning, section 2.1",
            "engine.encodings.t5_bias:T5Bias",
            "#C94F9B",
            relative=True,
            symbols=(("d_h", "head_width"),),
        ),
        EncodingRow(
            "alibi",
            "ALiBi",
            "scores",
            p.AlibiParameters,
            r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} - m_h\,|i-j|",
            "Press et al. 2022, Train Short, Test Long, section 3",
            "engine.encodings.alibi:Alibi",
            "#0F9D8A",
            relative=True,
            symbols=(("d_h", "head_width"),),
        ),
        EncodingRow(
            "kerple",
            "KERPLE",
            "scores",
            p.KerpleParameters,
            r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} - r_{1,h} \log(1 + r_{2,h}\,|i-j|)\ \text{or}\ - r_{1,h}\,|i-j|^{r_{2,h}}",
            "Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
            "engine.encodings.kerple:Kerple",
            "#6A9504",
            relative=True,
            symbols=(("d_h", "head_width"),),
        ),
        EncodingRow(
            "fire",
            "FIRE",
            "scores",
            p.FireParameters,
            r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} + f_h(\psi(i-j) / \psi(\max(L, i))),\quad \psi(x) = \log(1 + c x)",
            "Li et al. 2023, Functional Interpolation for Relative Positions Improves Long Context Transformers",
            "engine.encodings.fire:Fire",
            "#E8281C",
            symbols=(("d_h", "head_width"),),
        ),
        EncodingRow(
            "cope",
            "CoPE",
            "scores",
            p.CopeParameters,
            r"e_{ij} = q_i \cdot (k_j + e[p_{ij}]),\quad p_{ij} = \sum_{t=j}^{i} \sigma(q_i \cdot k_t)",
            "Golovneva et al. 2024, Contextual Position Encoding: Learning to Count What's Important",
            "engine.encodings.cope:Cope",
            "#227733",
            per_layer=True,
            relative=True,
            numbered=False,
            shown_as=(
                "Positions are counted by gates that open as the tokens say, so a token's place differs from query to query. Shown are the "
                "vectors of the counts, and how alike places would be if every gate stood half open."
            ),
        ),
        EncodingRow(
            "rope",
            "RoPE",
            "rotation",
            p.RopeParameters,
            r"e_{ij} = (R_i q_i) \cdot (R_j k_j) / \sqrt{d_h},\quad R_i = \mathrm{diag}_t\,\mathrm{rot}(i\,b^{-2t/d_h})",
            "Su et al. 2021, RoFormer, eq. 13-16",
            "engine.encodings.rope:Rope",
            "#D64550",
            relative=True,
            symbols=(("b", "rope_base"), ("d_h", "head_width")),
        ),
        EncodingRow(
            "xpos",
            "xPos",
            "rotation",
            p.XposParameters,
            r"e_{ij} = (\zeta^{i/B} R_i q_i) \cdot (\zeta^{-j/B} R_j k_j) / \sqrt{d_h},\quad \zeta_t = \frac{2t/d_h + \gamma}{1 + \gamma}",
            "Sun et al. 2022, A Length-Extrapolatable Transformer, section 2.2",
            "engine.encodings.xpos:Xpos",
            "#B319B2",
            relative=True,
            symbols=(("B", "xpos_scale_base"), (r"\gamma", "xpos_gamma"), ("d_h", "head_width")),
        ),
        EncodingRow(
            "mlp",
            "Network on the position",
            "embedding",
            p.PositionMlpParameters,
            r"h_i^{(0)} = E_{x_i} + \mathrm{MLP}(i / n)",
            "Tancik et al. 2020, Fourier Features Let Networks Learn High Frequency Functions, on what it lacks",
            "engine.encodings.mlp:PositionMlp",
            "#8A6D1F",
            symbols=(("n", "seq_len"),),
        ),
        EncodingRow(
            "conv",
            "Convolution",
            "embedding",
            p.ConvParameters,
            r"h_i^{(0)} = E_{x_i} + b + \sum_{t=-K}^{0\ \text{or}\ K} w_t \odot E_{x_{i+t}}",
            "Chu et al. 2021, Conditional Positional Encodings for Vision Transformers, section 3.2",
            "engine.encodings.conv:Convolution",
            "#9806F9",
            relative=True,
            numbered=False,
            symbols=(("K", "conv_reach"),),
            shown_as=(
                "What it adds is made of the tokens nearby, so it differs from text to text. Shown is what it adds where all tokens "
                "are alike: only the ends then differ; and how much of what two positions are given comes from the same tokens."
            ),
        ),
        EncodingRow(
            "designed",
            "Your own design",
            "embedding",
            p.DesignedParameters,
            r"\text{features of } i \text{ or } j - i \to \text{read-out} \to \text{embedding, scores or rotation}",
            "Put together on the page Design",
            "engine.encodings.designed:Designed",
            "#F9068C",
            decided_by=decided_by,
        ),
    )
}


def encoding_of(config: RunConfig) -> EncodingRow:
    """The row of a config's encoding, with what its own parameters decide of it."""
    row = ENCODINGS[config.pos_encoding]
    return replace(row, **row.decided_by(config.encoding_settings)) if row.decided_by else row
