from itertools import pairwise

from engine.encodings.base import EncodingSpec, InitScaleSettings
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape, dense_shapes
from engine.settings.fields import setting


class PositionMlpSettings(InitScaleSettings):
    position_mlp_width: int = setting(64, "Network width", "Hidden units in each layer.", ge=1, le=512)
    position_mlp_layers: int = setting(2, "Hidden layers", "Hidden layers of the network on the position.", ge=1, le=4)

    def _widths(self, config: BaseConfig) -> list[int]:
        return [1, *self.position_mlp_layers * [self.position_mlp_width], config.d_model]

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [shape for sizes in pairwise(self._widths(config)) for shape in dense_shapes(*sizes)]


SPEC = EncodingSpec(
    name="mlp", label="Network on the position", acts_on="embedding", settings=PositionMlpSettings,
    equation=r"h_i^{(0)} = E_{x_i} + \mathrm{MLP}(i / n)",
    source="Tancik et al. 2020, Fourier Features Let Networks Learn High Frequency Functions, on what it lacks", url="https://arxiv.org/abs/2006.10739",
    layer="engine.encodings.mlp.layer:PositionMlp", color="#6E6E78", symbols=(("n", "seq_len"),),
)  # fmt: skip
