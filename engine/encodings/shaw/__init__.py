from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape
from engine.settings.fields import setting


class ShawSettings(EncodingSettings):
    shaw_max_distance: int = setting(16, "Clipping distance", "K. Offsets beyond ±K share one vector.", ge=1, le=512)
    shaw_values: bool = setting(True, "Relative values", "Also adds a relative vector to the values (equation 3).")

    @property
    def needs_pattern(self) -> bool:
        return self.shaw_values

    @property
    def vectors(self) -> int:
        return 2 * self.shaw_max_distance + 1

    @property
    def tables(self) -> int:
        return 2 if self.shaw_values else 1

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        table: Shape = (self.vectors, config.head_width)
        return self.tables * [table]


SPEC = EncodingSpec(
    name="shaw", label="Shaw relative", acts_on="scores", settings=ShawSettings,
    equation=r"e_{ij} = q_i \cdot (k_j + a^K_{\mathrm{clip}(j-i,\,\pm K)}) / \sqrt{d_h}",
    source="Shaw et al. 2018, Self-Attention with Relative Position Representations, eq. 3-5", url="https://arxiv.org/abs/1803.02155",
    layer="engine.encodings.shaw.layer:Shaw", color="#7A73FF", per_layer=True, relative=True,
    symbols=(("K", "shaw_max_distance"), ("d_h", "head_width")),
    shown_as=(
        "It adds the query times the vector of the offset, so it differs by token. "
        "The figure shows the vectors, and the similarity of each to that of offset 0."
    ),
)  # fmt: skip
