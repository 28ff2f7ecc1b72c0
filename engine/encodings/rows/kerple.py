"""KERPLE: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engine.encodings.row import EncodingRow
from engine.encodings.saved import UNKNOWN
from engine.encodings.shapes import Shape
from engine.encodings.work import Reading, Work, pointwise
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class KerpleParameters(Parameters):
    kerple_kernel: Literal["log", "power"] = setting(
        "log",
        label="Kernel",
        help="How the penalty grows with distance: r₁ log(1 + r₂ |i-j|), or r₁ |i-j|^r₂.",
        labels={"log": "Logarithmic", "power": "Power"},
    )


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(c.n_heads,), (c.n_heads,)]


def work(r: Reading) -> Work:
    """r_1 log(1 + r_2 distance), or r_1 distance^r_2."""
    operations = 3 if r.config.value("kerple_kernel") == "log" else 2
    return r.layers * pointwise(r.config.n_heads * r.pairs, operations)


ROW = EncodingRow(
    name="kerple",
    label="KERPLE",
    acts_on="scores",
    parameters=KerpleParameters,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} - r_{1,h} \log(1 + r_{2,h}\,|i-j|)\ \text{or}\ - r_{1,h}\,|i-j|^{r_{2,h}}",
    source="Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
    implementation="engine.encodings.kerple:Kerple",
    color="#6A9504",
    relative=True,
    symbols=(("d_h", "head_width"),),
    learns=learns,
    work=work,
    saved=UNKNOWN,
)
