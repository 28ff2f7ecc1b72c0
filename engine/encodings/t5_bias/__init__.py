"""T5's bucketed relative bias: settings, parameters and registry row."""

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape
from engine.settings.fields import setting


class T5BiasSettings(EncodingSettings):
    t5_buckets: int = setting(32, "Buckets", "Number of learned biases per head.", ge=4, le=64)
    # Half of the buckets hold one offset each: the largest distance must lie beyond 64 / 2.
    t5_max_distance: int = setting(
        128, "Furthest bucket", "Offsets from here on share the last bucket.", ge=33, le=4096
    )

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(self.t5_buckets, config.n_heads)]


SPEC = EncodingSpec(
    name="t5_bias", label="T5 bias", acts_on="scores", settings=T5BiasSettings,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} + b_{h,\,\mathrm{bucket}(j-i)}",
    source="Raffel et al. 2020, Exploring the Limits of Transfer Learning, section 2.1 (there the product is not scaled)",
    url="https://arxiv.org/abs/1910.10683",
    layer="engine.encodings.t5_bias.layer:T5Bias", color="#E71EFF", relative=True,
    symbols=(("d_h", "head_width"),),
)  # fmt: skip
