"""Learned table: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.row import EncodingRow
from engine.encodings.shapes import Shape
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class LearnedParameters(Parameters):
    table_init_std: float | None = setting(
        None,
        label="Table init scale",
        help="Standard deviation of the table's first values. Auto ties it to the token embedding's.",
        ge=0.0,
        le=10.0,
    )


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(rows, c.d_model)]


ROW = EncodingRow(
    name="learned",
    label="Learned table",
    acts_on="embedding",
    parameters=LearnedParameters,
    equation=r"h_i^{(0)} = E_{x_i} + P_i,\quad P \in \mathbb{R}^{n \times d}\ \text{trained}",
    source="Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1",
    implementation="engine.encodings.learned:Learned",
    color="#D9822B",
    symbols=(("n", "seq_len"), ("d", "d_model")),
    learns=learns,
)
