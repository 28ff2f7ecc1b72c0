"""ALiBi: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from engine.encodings.row import EncodingRow
from engine.encodings.saved import Saved
from engine.settings.fields import Parameters, setting


class AlibiParameters(Parameters):
    alibi_slope_scale: float = setting(
        1.0, label="Slope scale", help="Multiplies the published slopes 2^(-8h/H).", ge=0.0, le=8.0
    )


ROW = EncodingRow(
    name="alibi",
    label="ALiBi",
    acts_on="scores",
    parameters=AlibiParameters,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} - m_h\,|i-j|",
    source="Press et al. 2022, Train Short, Test Long, section 3",
    implementation="engine.encodings.alibi:Alibi",
    color="#0F9D8A",
    relative=True,
    symbols=(("d_h", "head_width"),),
    saved=Saved(mask_in_bias=True),
)
