"""None (NoPE): its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from engine.encodings.parameters import NoParameters
from engine.encodings.row import EncodingRow

ROW = EncodingRow(
    name="nope",
    label="None (NoPE)",
    acts_on="nowhere",
    parameters=NoParameters,
    equation=r"h_i^{(0)} = E_{x_i}",
    source="Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization",
    implementation="engine.encodings.nope:NoEncoding",
    color="#8C8C8C",
    relative=True,
    numbered=False,
)
