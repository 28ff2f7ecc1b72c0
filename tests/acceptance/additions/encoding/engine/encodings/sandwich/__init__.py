"""Sandwich, the inner product of two sinusoidal encodings as a bias: settings and registry row."""

from collections.abc import Iterator

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.fields import setting


class SandwichSettings(EncodingSettings):
    sandwich_width: int = setting(
        128, label="Width of the sinusoids", help="d': an even number; half as many cosines are summed.", ge=2, le=1024
    )

    def broken_rules(self, config: BaseConfig) -> Iterator[tuple[str, str]]:
        if self.sandwich_width % 2:
            yield "sandwich_width", "an even number"


SPEC = EncodingSpec(
    name="sandwich", label="Sandwich", acts_on="scores", settings=SandwichSettings,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} + c_h \Big(\sum_{t=1}^{d'/2} \cos\frac{i-j}{10000^{2t/d'}} - d'/2\Big)",
    source="Chi et al. 2023, Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis",
    url="https://arxiv.org/abs/2212.10356",
    layer="engine.encodings.sandwich.layer:Sandwich", color="#76367D", relative=True,
    symbols=(("d_h", "head_width"), ("d'", "sandwich_width")),
)  # fmt: skip
