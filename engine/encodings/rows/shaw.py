"""Shaw relative: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.row import EncodingRow
from engine.encodings.saved import Saved, size
from engine.encodings.shapes import Shape
from engine.encodings.work import Reading, Work, product
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class ShawParameters(Parameters):
    shaw_max_distance: int = setting(
        16, label="Clipping distance", help="K: offsets beyond ±K share one vector.", ge=1, le=512
    )
    shaw_values: bool = setting(
        True, label="Relative values", help="Also add a relative vector to the values (equation 3)."
    )


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    table: Shape = (2 * c.value("shaw_max_distance") + 1, c.head_width)
    return [table, table] if c.value("shaw_values") else [table]


def work(r: Reading) -> Work:
    """Each query with each vector of an offset, and the pattern, summed by offset, with those of the values."""
    by_offset = product(r.queries, r.config.head_width, 2 * r.config.value("shaw_max_distance") + 1)
    tables = 2 if r.config.value("shaw_values") else 1
    return r.layers * tables * by_offset


def kept(r: Reading) -> int:
    """By offset: the queries' products with the relative keys, and the pattern for the relative values."""
    c = r.config
    by_offset: int = (1 + c.value("shaw_values")) * (2 * c.value("shaw_max_distance") + 1)
    queries = c.head_width if c.attention_score == "additive" else 0  # otherwise attention keeps them itself
    return size(r) * r.queries * (by_offset + queries)


def reads_pattern(c: RunConfig) -> bool:
    return bool(c.value("shaw_values"))


ROW = EncodingRow(
    name="shaw",
    label="Shaw relative",
    acts_on="scores",
    parameters=ShawParameters,
    equation=r"e_{ij} = q_i \cdot (k_j + a^K_{\mathrm{clip}(j-i,\,\pm K)}) / \sqrt{d_h}",
    source="Shaw et al. 2018, Self-Attention with Relative Position Representations, eq. 3-5",
    implementation="engine.encodings.shaw:Shaw",
    color="#7A5AE0",
    per_layer=True,
    relative=True,
    symbols=(("K", "shaw_max_distance"), ("d_h", "head_width")),
    shown_as=(
        "What it adds to a score is the query's dot product with the vector of the offset, so it differs from token to token. "
        "Shown are the vectors, and how alike each is to the vector of offset 0."
    ),
    learns=learns,
    work=work,
    saved=Saved(per_layer=kept),
    reads_pattern=reads_pattern,
)
