"""RoPE, rotary position embedding: settings, rules and registry row."""

from collections.abc import Iterator
from typing import Literal

from engine.encodings.base import EncodingSpec, RotationSettings
from engine.settings.base import BaseConfig
from engine.settings.fields import setting


class RopeSettings(RotationSettings):
    rope_scaling: Literal["none", "pi", "ntk", "yarn"] = setting(
        "none",
        "RoPE scaling",
        "Slows rotations at test lengths beyond the trained one. Training is the same.",
        labels={"none": "None", "pi": "Position interpolation", "ntk": "NTK-aware", "yarn": "YaRN"},
    )
    rope_scale_factor: float | None = setting(
        None, "Scale factor", "s, the factor by which they are slower. Auto: tested length over trained length.",
        ge=1.0, le=1024.0,
    )  # fmt: skip
    yarn_alpha: float = setting(
        1.0, "YaRN α", "Pairs with fewer turns over the trained length get the full factor.", ge=0.0, le=64.0
    )
    yarn_beta: float = setting(
        32.0, "YaRN β", "Pairs with more turns over the trained length do not change.", ge=0.1, le=1024.0
    )

    def broken_rules(self, config: BaseConfig) -> Iterator[tuple[str, str]]:
        if self.rope_scaling == "ntk" and config.head_width < 4:
            yield "rope_scaling", "none, pi or yarn with a d_head of 2, whose only pair ntk would not change"
        if self.yarn_alpha >= self.yarn_beta:
            yield "yarn_alpha", f"a number below yarn_beta {self.yarn_beta:g}"

    def warning(self, config: BaseConfig) -> str | None:
        if self.rope_scaling == "none" or max(config.test_lengths, default=0) > config.seq_len:
            return None
        return "RoPE scaling acts only beyond the trained length. Without a longer test length it changes nothing."


SPEC = EncodingSpec(
    name="rope", label="RoPE", acts_on="rotation", settings=RopeSettings,
    equation=r"e_{ij} = (R_i q_i) \cdot (R_j k_j) / \sqrt{d_h},\quad R_i = \mathrm{diag}_t\,\mathrm{rot}(i\,b^{-2t/d_h})",
    source="Su et al. 2021, RoFormer, eq. 13-16", url="https://arxiv.org/abs/2104.09864",
    layer="engine.encodings.rope.layer:Rope", color="#CB3C21",
    relative=True, symbols=(("b", "rope_base"), ("d_h", "head_width")),
)  # fmt: skip
