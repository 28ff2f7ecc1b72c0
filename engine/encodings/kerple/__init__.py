from typing import Literal

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape
from engine.settings.fields import setting


class KerpleSettings(EncodingSettings):
    kerple_kernel: Literal["log", "power"] = setting(
        "log", "Kernel", "How the penalty grows with distance: r₁ log(1 + r₂ |i-j|), or r₁ |i-j|^r₂.",
        labels={"log": "Logarithmic", "power": "Power"},
    )  # fmt: skip

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(config.n_heads,), (config.n_heads,)]


SPEC = EncodingSpec(
    name="kerple", label="KERPLE", acts_on="scores", settings=KerpleSettings,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} - r_{1,h} \log(1 + r_{2,h}\,|i-j|)\ \text{or}\ - r_{1,h}\,|i-j|^{r_{2,h}}",
    source="Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation", url="https://arxiv.org/abs/2205.09921",
    layer="engine.encodings.kerple.layer:Kerple", color="#8CBC73", relative=True,
    symbols=(("d_h", "head_width"),),
)  # fmt: skip
