"""FIRE: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.row import EncodingRow
from engine.encodings.saved import UNKNOWN
from engine.encodings.shapes import Shape, dense
from engine.encodings.work import Reading, Work, network, pointwise
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


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


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(1,), (1,), *dense(1, c.value("fire_width")), *dense(c.value("fire_width"), c.n_heads)]


def work(r: Reading) -> Work:
    distances = pointwise(r.pairs, 5)  # two psi, of a product and a logarithm each, and their quotient
    return r.layers * (distances + network(r.pairs, [1, r.config.value("fire_width"), r.config.n_heads]))


ROW = EncodingRow(
    name="fire",
    label="FIRE",
    acts_on="scores",
    parameters=FireParameters,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} + f_h(\psi(i-j) / \psi(\max(L, i))),\quad \psi(x) = \log(1 + c x)",
    source="Li et al. 2023, Functional Interpolation for Relative Positions Improves Long Context Transformers",
    implementation="engine.encodings.fire:Fire",
    color="#E8281C",
    symbols=(("d_h", "head_width"),),
    learns=learns,
    work=work,
    saved=UNKNOWN,
)
