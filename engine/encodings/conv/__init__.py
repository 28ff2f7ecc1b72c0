from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape
from engine.settings.fields import setting


class ConvSettings(EncodingSettings):
    conv_reach: int = setting(
        2, "Reach",
        "Tokens read before each one, and after it where the stack looks both ways.", ge=1, le=32,
    )  # fmt: skip

    def _neighbours(self, causal: bool) -> int:
        return self.conv_reach * (1 if causal else 2)

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(config.d_model, self._neighbours(causal) + 1), (config.d_model,)]


SPEC = EncodingSpec(
    name="conv", label="Convolution", acts_on="embedding", settings=ConvSettings,
    equation=r"h_i^{(0)} = E_{x_i} + b + \sum_{t=-K}^{0\ \text{or}\ K} w_t \odot E_{x_{i+t}}",
    source="Chu et al. 2021, Conditional Positional Encodings for Vision Transformers, section 3.2", url="https://arxiv.org/abs/2102.10882",
    layer="engine.encodings.conv.layer:Convolution", color="#7100CB", relative=True, numbered=False,
    symbols=(("K", "conv_reach"),),
    shown_as=(
        "It adds a mixture of nearby tokens, which differs from text to text. The figure shows it for equal tokens, where only the "
        "ends differ. The similarity is the share of tokens that two positions have in common."
    ),
)  # fmt: skip
