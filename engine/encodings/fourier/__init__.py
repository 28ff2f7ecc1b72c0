from engine.encodings.base import EncodingSpec, InitScaleSettings
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape, dense_shapes
from engine.settings.fields import setting


class FourierSettings(InitScaleSettings):
    fourier_frequencies: int = setting(
        16, "Frequencies", "Number of waves with learned lengths, a sine and a cosine each.", ge=1, le=256
    )
    fourier_length_scale: float = setting(
        4.0, "Length scale γ", "At the start, positions within this distance have similar features.", ge=0.1, le=1000.0
    )
    fourier_width: int = setting(32, "Network width", "Hidden units after the features.", ge=1, le=512)

    def _widths(self, config: BaseConfig) -> list[int]:
        return [2 * self.fourier_frequencies, self.fourier_width, config.d_model]  # input, hidden, output

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        features, hidden, out = self._widths(config)
        return [(self.fourier_frequencies,), *dense_shapes(features, hidden), *dense_shapes(hidden, out)]


SPEC = EncodingSpec(
    name="fourier", label="Learned Fourier features", acts_on="embedding", settings=FourierSettings,
    equation=r"h_i^{(0)} = E_{x_i} + \mathrm{MLP}(r_i),\quad "
    r"r_i = \tfrac{1}{\sqrt{2 \cdot m}}[\cos(i w)\,\|\,\sin(i w)],\ w \in \mathbb{R}^{m}\ \text{trained}",
    source="Li et al. 2021, Learnable Fourier Features for Multi-Dimensional Spatial Positional Encoding", url="https://arxiv.org/abs/2106.02795",
    layer="engine.encodings.fourier.layer:Fourier", color="#2FB7F6", symbols=(("m", "fourier_frequencies"),),
)  # fmt: skip
