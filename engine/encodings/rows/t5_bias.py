"""T5 bias: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.row import EncodingRow
from engine.encodings.shapes import Shape
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class T5BiasParameters(Parameters):
    t5_buckets: int = setting(32, label="Buckets", help="How many biases a head learns.", ge=4, le=64)
    # Half of the buckets hold one offset each: the furthest must lie beyond 64 / 2.
    t5_max_distance: int = setting(
        128, label="Furthest bucket", help="Offsets from here on share the last bucket.", ge=33, le=4096
    )


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(c.value("t5_buckets"), c.n_heads)]


ROW = EncodingRow(
    name="t5_bias",
    label="T5 bias",
    acts_on="scores",
    parameters=T5BiasParameters,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} + b_{h,\,\mathrm{bucket}(j-i)}",
    source="Raffel et al. 2020, Exploring the Limits of Transfer Learning, section 2.1",
    implementation="engine.encodings.t5_bias:T5Bias",
    color="#C94F9B",
    relative=True,
    symbols=(("d_h", "head_width"),),
    learns=learns,
)
