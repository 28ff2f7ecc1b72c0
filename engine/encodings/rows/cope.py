"""CoPE: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.row import EncodingRow
from engine.encodings.saved import UNKNOWN
from engine.encodings.shapes import Shape
from engine.encodings.work import Reading, Work, pointwise, product
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class CopeParameters(Parameters):
    cope_counts: int = setting(
        64, label="Largest count + 1", help="Vectors that are learned; higher counts share the last.", ge=2, le=512
    )


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(1 if causal else 2, c.value("cope_counts"), c.head_width)]


def work(r: Reading) -> Work:
    """Gates, a product of every query and key once more; then for each direction sums of gates, the queries with the vectors of the
    counts, and the interpolation between two of them (the share, its rest, two products, their sum)."""
    width, counts = r.config.head_width, r.config.value("cope_counts")
    gates = product(r.queries, width, r.length) + pointwise(r.queries * r.length, 1)
    direction = product(r.queries, width, counts) + pointwise(r.queries * r.length, 6)
    return r.layers * (gates + (1 if r.causal else 2) * direction)


ROW = EncodingRow(
    name="cope",
    label="CoPE",
    acts_on="scores",
    parameters=CopeParameters,
    equation=r"e_{ij} = q_i \cdot (k_j + e[p_{ij}]),\quad p_{ij} = \sum_{t=j}^{i} \sigma(q_i \cdot k_t)",
    source="Golovneva et al. 2024, Contextual Position Encoding: Learning to Count What's Important",
    implementation="engine.encodings.cope:Cope",
    color="#227733",
    per_layer=True,
    relative=True,
    numbered=False,
    shown_as=(
        "Positions are counted by gates that open as the tokens say, so a token's place differs from query to query. Shown are the "
        "vectors of the counts, and how alike places would be if every gate stood half open."
    ),
    learns=learns,
    work=work,
    saved=UNKNOWN,
)
