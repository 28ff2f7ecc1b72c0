"""Network on the position: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.parameters import FirstScale
from engine.encodings.row import EncodingRow
from engine.encodings.saved import SINGLE, Saved, kept_by_network
from engine.encodings.shapes import Shape, dense
from engine.encodings.work import Reading, Work, network
from engine.settings.fields import setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class PositionMlpParameters(FirstScale):
    position_mlp_width: int = setting(64, label="Network width", help="Hidden units in each layer.", ge=1, le=512)
    position_mlp_layers: int = setting(2, label="Hidden layers", help="Of the network on the position.", ge=1, le=4)


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    width, between = c.value("position_mlp_width"), c.value("position_mlp_layers") - 1
    return [*dense(1, width), *between * dense(width, width), *dense(width, c.d_model)]


def _widths(r: Reading) -> list[int]:
    layers = r.config.value("position_mlp_layers") * [r.config.value("position_mlp_width")]
    return [1, *layers, r.config.d_model]


def work(r: Reading) -> Work:
    return network(r.length, _widths(r), passes=2)


def kept(r: Reading) -> int:
    """Positions, and what the network keeps."""
    return SINGLE * r.length + kept_by_network(r, _widths(r))


ROW = EncodingRow(
    name="mlp",
    label="Network on the position",
    acts_on="embedding",
    parameters=PositionMlpParameters,
    equation=r"h_i^{(0)} = E_{x_i} + \mathrm{MLP}(i / n)",
    source="Tancik et al. 2020, Fourier Features Let Networks Learn High Frequency Functions, on what it lacks",
    implementation="engine.encodings.mlp:PositionMlp",
    color="#8A6D1F",
    symbols=(("n", "seq_len"),),
    learns=learns,
    work=work,
    saved=Saved(per_stack=kept),
)
