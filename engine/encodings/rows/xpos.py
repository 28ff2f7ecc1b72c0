"""xPos: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING

from engine.encodings.parameters import RotationParameters
from engine.encodings.row import EncodingRow
from engine.encodings.saved import Saved
from engine.encodings.work import Reading, Work, product, turns
from engine.settings.fields import setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class XposParameters(RotationParameters):
    xpos_scale_base: float = setting(
        512.0, label="Decay length B", help="In positions: larger lets far products fade later.", ge=1.0, le=1e6
    )
    xpos_gamma: float = setting(
        0.4, label="Decay γ", help="Larger makes the fast pairs fade less; the slowest hardly fade.", ge=0.01, le=100.0
    )


DECAY_BEARS = {"float32": 80.0, "bfloat16": 80.0, "float16": 8.0}
"""Largest logarithm of a factor that keys are multiplied by: e^88 is the end of float32, e^11 of float16."""


def decay_fits(c: RunConfig) -> tuple[str, str] | None:
    if not c.architecture.attends:
        return None
    # A decoder reads its question and its answer: twice the length.
    furthest = 2 * max(c.seq_len, *c.test_lengths, 0) * c.randomized_positions
    gamma = c.value("xpos_gamma")
    least = 2 * furthest * log((1 + gamma) / gamma) / DECAY_BEARS[c.dtype]
    if c.value("xpos_scale_base") >= least:
        return None
    return (
        "xpos_scale_base",
        f"a number from {ceil(least)}: a faster decay leaves the range of {c.dtype} at these lengths",
    )


def work(r: Reading) -> Work:
    """Turned and made smaller; looking both ways, all scores with the factors exchanged, and those to take away."""
    turned = turns(r, operations=4)
    if r.causal or r.config.attention_score == "additive":
        return turned
    return turned + turns(r, operations=1) + 2 * r.layers * product(r.queries, r.config.head_width, r.length)


def saved_is_known(c: RunConfig) -> bool:
    """Not where a stack looks both ways and computes its scores twice."""
    return c.family == "decoder"


ROW = EncodingRow(
    name="xpos",
    label="xPos",
    acts_on="rotation",
    parameters=XposParameters,
    equation=r"e_{ij} = (\zeta^{i/B} R_i q_i) \cdot (\zeta^{-j/B} R_j k_j) / \sqrt{d_h},\quad \zeta_t = \frac{2t/d_h + \gamma}{1 + \gamma}",
    source="Sun et al. 2022, A Length-Extrapolatable Transformer, section 2.2",
    implementation="engine.encodings.xpos:Xpos",
    color="#B319B2",
    relative=True,
    symbols=(("B", "xpos_scale_base"), (r"\gamma", "xpos_gamma"), ("d_h", "head_width")),
    work=work,
    saved=Saved(known=saved_is_known),
    rules=(decay_fits,),
)
