"""Learned Fourier features of the position: settings, parameters, costs and registry row."""

from engine.encodings.base import EncodingSpec, InitScaleSettings
from engine.settings.base import BaseConfig
from engine.settings.costs import SINGLE, Flops, Shape, StackShape, dense_shapes, elementwise_flops, mlp_flops
from engine.settings.fields import setting


class FourierSettings(InitScaleSettings):
    fourier_frequencies: int = setting(
        16, "Frequencies", "Waves whose length is learned, a sine and a cosine each.", ge=1, le=256
    )
    fourier_length_scale: float = setting(
        4.0, "Length scale γ", "Over so many positions the first features look alike.", ge=0.1, le=1000.0
    )
    fourier_width: int = setting(32, "Network width", "Hidden units after the features.", ge=1, le=512)

    def _widths(self, config: BaseConfig) -> list[int]:
        """Widths of the network on the features: its input, its hidden layer, its output."""
        return [2 * self.fourier_frequencies, self.fourier_width, config.d_model]

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        features, hidden, out = self._widths(config)
        return [(self.fourier_frequencies,), *dense_shapes(features, hidden), *dense_shapes(hidden, out)]

    def flops(self, stack: StackShape) -> Flops:
        """Each wave takes three operations at each position: the angle, its cosine and its sine."""
        waves = elementwise_flops(stack.length * self.fourier_frequencies, 3)
        return waves + mlp_flops(stack.length, self._widths(stack.config))

    def stack_activation_bytes(self, stack: StackShape) -> int:
        """The positions, the angles, the features, and what the network keeps."""
        features = SINGLE * stack.length * (1 + 3 * self.fourier_frequencies)
        return features + stack.network_bytes(self._widths(stack.config))


SPEC = EncodingSpec(
    name="fourier", label="Learned Fourier features", acts_on="embedding", settings=FourierSettings,
    equation=r"h_i^{(0)} = E_{x_i} + \mathrm{MLP}(r_i),\quad "
    r"r_i = \tfrac{1}{\sqrt{2 \cdot m}}[\cos(i w)\,\|\,\sin(i w)],\ w \in \mathbb{R}^{m}\ \text{trained}",
    source="Li et al. 2021, Learnable Fourier Features for Multi-Dimensional Spatial Positional Encoding", url="https://arxiv.org/abs/2106.02795",
    layer="engine.encodings.fourier.layer:Fourier", color="#2FB7F6", symbols=(("m", "fourier_frequencies"),),
)  # fmt: skip
