"""Convolution: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.row import EncodingRow
from engine.encodings.saved import Saved, size
from engine.encodings.shapes import Shape
from engine.encodings.work import Reading, Work, product
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class ConvParameters(Parameters):
    conv_reach: int = setting(
        2,
        label="Reach",
        help="How many tokens before each are read; as many after it where the stack looks both ways.",
        ge=1,
        le=32,
    )


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(c.d_model, c.value("conv_reach") * (1 if causal else 2) + 1), (c.d_model,)]


def work(r: Reading) -> Work:
    taps = r.config.value("conv_reach") * (1 if r.causal else 2) + 1
    return product(r.config.batch_size * r.length * r.config.d_model, taps, 1)


def kept(r: Reading) -> int:
    """The tokens with zeros around them, and which are real, a byte each."""
    c = r.config
    around = (1 if r.causal else 2) * c.value("conv_reach")
    bytes_of_one: int = (r.length + around) * c.d_model * size(r) + r.padded * r.length
    return c.batch_size * bytes_of_one


ROW = EncodingRow(
    name="conv",
    label="Convolution",
    acts_on="embedding",
    parameters=ConvParameters,
    equation=r"h_i^{(0)} = E_{x_i} + b + \sum_{t=-K}^{0\ \text{or}\ K} w_t \odot E_{x_{i+t}}",
    source="Chu et al. 2021, Conditional Positional Encodings for Vision Transformers, section 3.2",
    implementation="engine.encodings.conv:Convolution",
    color="#9806F9",
    relative=True,
    numbered=False,
    symbols=(("K", "conv_reach"),),
    shown_as=(
        "What it adds is made of the tokens nearby, so it differs from text to text. Shown is what it adds where all tokens "
        "are alike: only the ends then differ; and how much of what two positions are given comes from the same tokens."
    ),
    learns=learns,
    work=work,
    saved=Saved(per_stack=kept),
)
