"""A depthwise convolution over the embedded tokens: settings, parameters, costs and registry row."""

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Flops, Shape, StackShape, matmul_flops
from engine.settings.fields import setting


class ConvSettings(EncodingSettings):
    conv_reach: int = setting(
        2, "Reach",
        "How many tokens before each are read; as many after it where the stack looks both ways.", ge=1, le=32,
    )  # fmt: skip

    def _neighbours(self, causal: bool) -> int:
        """Tokens that are read besides the one at the position itself."""
        return self.conv_reach * (1 if causal else 2)

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(config.d_model, self._neighbours(causal) + 1), (config.d_model,)]

    def flops(self, stack: StackShape) -> Flops:
        numbers = stack.config.batch_size * stack.length * stack.config.d_model
        return matmul_flops(numbers, self._neighbours(stack.causal) + 1, 1)

    def stack_activation_bytes(self, stack: StackShape) -> int:
        """The tokens with zeros around them; the token mask, a byte a token; and the kernel where a product keeps a copy of it."""
        padded_length = stack.length + self._neighbours(stack.causal)
        one_sequence = padded_length * stack.config.d_model * stack.bytes_per_number + stack.padded * stack.length
        kernel = stack.config.d_model * (self._neighbours(stack.causal) + 1) * stack.bytes_per_number
        return stack.config.batch_size * one_sequence + stack.mixed * kernel


SPEC = EncodingSpec(
    name="conv", label="Convolution", acts_on="embedding", settings=ConvSettings,
    equation=r"h_i^{(0)} = E_{x_i} + b + \sum_{t=-K}^{0\ \text{or}\ K} w_t \odot E_{x_{i+t}}",
    source="Chu et al. 2021, Conditional Positional Encodings for Vision Transformers, section 3.2", url="https://arxiv.org/abs/2102.10882",
    layer="engine.encodings.conv.layer:Convolution", color="#7100CB", relative=True, numbered=False,
    symbols=(("K", "conv_reach"),),
    shown_as=(
        "What it adds is made of the tokens nearby, so it differs from text to text. Shown is what it adds where all tokens "
        "are alike: only the ends then differ; and how much of what two positions are given comes from the same tokens."
    ),
)  # fmt: skip
