"""KERPLE, a learned bias that falls with distance: settings, parameters, costs and registry row."""

from typing import Literal

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import SINGLE, Flops, Shape, StackShape, elementwise_flops
from engine.settings.fields import setting


class KerpleSettings(EncodingSettings):
    kerple_kernel: Literal["log", "power"] = setting(
        "log", "Kernel", "How the penalty grows with distance: r₁ log(1 + r₂ |i-j|), or r₁ |i-j|^r₂.",
        labels={"log": "Logarithmic", "power": "Power"},
    )  # fmt: skip

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(config.n_heads,), (config.n_heads,)]

    def flops(self, stack: StackShape) -> Flops:
        """For each pair and head: two products and a logarithm (``log``), or a power and a product (``power``)."""
        operations = 3 if self.kerple_kernel == "log" else 2
        return stack.config.n_layers * elementwise_flops(stack.config.n_heads * stack.length**2, operations)

    def layer_bytes_bound(self, stack: StackShape) -> int:
        """For each pair of positions: the distance, and for each head the kernel's inner and outer values with their gradients."""
        return SINGLE * stack.length**2 * (3 + 6 * stack.config.n_heads)

    def has_memory_formula(self, config: BaseConfig) -> bool:
        return False


SPEC = EncodingSpec(
    name="kerple", label="KERPLE", acts_on="scores", settings=KerpleSettings,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} - r_{1,h} \log(1 + r_{2,h}\,|i-j|)\ \text{or}\ - r_{1,h}\,|i-j|^{r_{2,h}}",
    source="Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation", url="https://arxiv.org/abs/2205.09921",
    layer="engine.encodings.kerple.layer:Kerple", color="#8CBC73", pair_flops=350, relative=True,
    symbols=(("d_h", "head_width"),),
)  # fmt: skip
