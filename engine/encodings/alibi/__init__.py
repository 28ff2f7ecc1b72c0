from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.fields import setting


class AlibiSettings(EncodingSettings):
    alibi_slope_scale: float = setting(1.0, "Slope scale", "Multiplies the published slopes 2^(-8h/H).", ge=0.0, le=8.0)


SPEC = EncodingSpec(
    name="alibi", label="ALiBi", acts_on="scores", settings=AlibiSettings,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} - m_h\,|i-j|",
    source="Press et al. 2022, Train Short, Test Long, section 3", url="https://arxiv.org/abs/2108.12409",
    layer="engine.encodings.alibi.layer:Alibi",
    color="#46B896", relative=True, symbols=(("d_h", "head_width"),),
)  # fmt: skip
