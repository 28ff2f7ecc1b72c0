"""RoPE: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engine.encodings.parameters import RotationParameters
from engine.encodings.row import EncodingRow
from engine.encodings.work import turns
from engine.settings.fields import setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class RopeParameters(RotationParameters):
    rope_scaling: Literal["none", "pi", "ntk", "yarn"] = setting(
        "none",
        label="RoPE scaling",
        help="How rotations are slowed at test lengths beyond the trained one, without fine-tuning. Training is unchanged.",
        labels={"none": "None", "pi": "Position interpolation", "ntk": "NTK-aware", "yarn": "YaRN"},
    )
    rope_scale_factor: float | None = setting(
        None,
        label="Scale factor",
        help="s: by how much they are slowed. Auto: tested length over trained length.",
        ge=1.0,
        le=1024.0,
    )
    yarn_alpha: float = setting(
        1.0, label="YaRN α", help="Pairs with fewer turns over the trained length are slowed fully.", ge=0.0, le=64.0
    )
    yarn_beta: float = setting(
        32.0, label="YaRN β", help="Pairs with more turns over the trained length are left alone.", ge=0.1, le=1024.0
    )


def ntk_needs_two_pairs(c: RunConfig) -> tuple[str, str] | None:
    if c.value("rope_scaling") != "ntk" or c.head_width >= 4:
        return None
    return "rope_scaling", "none, pi or yarn with a d_head of 2, whose only pair ntk would leave as it is"


def yarn_ramp_rises(c: RunConfig) -> tuple[str, str] | None:
    beta: float = c.value("yarn_beta")
    falls = c.value("yarn_alpha") >= beta
    return ("yarn_alpha", f"a number below yarn_beta {beta:g}") if falls else None


ROW = EncodingRow(
    name="rope",
    label="RoPE",
    acts_on="rotation",
    parameters=RopeParameters,
    equation=r"e_{ij} = (R_i q_i) \cdot (R_j k_j) / \sqrt{d_h},\quad R_i = \mathrm{diag}_t\,\mathrm{rot}(i\,b^{-2t/d_h})",
    source="Su et al. 2021, RoFormer, eq. 13-16",
    implementation="engine.encodings.rope:Rope",
    color="#D64550",
    relative=True,
    symbols=(("b", "rope_base"), ("d_h", "head_width")),
    work=turns,
    rules=(
        ntk_needs_two_pairs,
        yarn_ramp_rises,
    ),
)
