"""Learned Fourier features: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.parameters import FirstScale
from engine.encodings.row import EncodingRow
from engine.encodings.saved import SINGLE, Saved, kept_by_network
from engine.encodings.shapes import Shape, dense
from engine.encodings.work import Reading, Work, network, pointwise
from engine.settings.fields import setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class FourierParameters(FirstScale):
    fourier_frequencies: int = setting(
        16, label="Frequencies", help="Waves whose length is learned, a sine and a cosine each.", ge=1, le=256
    )
    fourier_length_scale: float = setting(
        4.0, label="Length scale γ", help="Over so many positions the first features look alike.", ge=0.1, le=1000.0
    )
    fourier_width: int = setting(32, label="Network width", help="Hidden units after the features.", ge=1, le=512)


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    waves, width = c.value("fourier_frequencies"), c.value("fourier_width")
    return [(waves,), *dense(2 * waves, width), *dense(width, c.d_model)]


def work(r: Reading) -> Work:
    waves, width = r.config.value("fourier_frequencies"), r.config.value("fourier_width")
    waved = pointwise(r.length * waves, 3)  # the angle, its cosine, its sine
    return waved + network(r.length, [2 * waves, width, r.config.d_model])


def kept(r: Reading) -> int:
    """Positions, angles, features, and what the network keeps."""
    waves, width = r.config.value("fourier_frequencies"), r.config.value("fourier_width")
    features: int = SINGLE * r.length * (1 + waves + 2 * waves)
    return features + kept_by_network(r, [2 * waves, width, r.config.d_model])


ROW = EncodingRow(
    name="fourier",
    label="Learned Fourier features",
    acts_on="embedding",
    parameters=FourierParameters,
    equation=r"h_i^{(0)} = E_{x_i} + \mathrm{MLP}(r_i),\quad r_i = \tfrac{1}{\sqrt{F}}[\cos(i w)\,\|\,\sin(i w)],\ w\ \text{trained}",
    source="Li et al. 2021, Learnable Fourier Features for Multi-Dimensional Spatial Positional Encoding",
    implementation="engine.encodings.fourier:Fourier",
    color="#05A0C7",
    symbols=(("F", "fourier_frequencies"),),
    learns=learns,
    work=work,
    saved=Saved(per_stack=kept),
)
