from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape, dense_shapes
from engine.settings.fields import setting


class FireSettings(EncodingSettings):
    fire_width: int = setting(32, "Network width", "Hidden units of the function of distance.", ge=1, le=256)
    fire_c: float = setting(
        0.1, "First c", "c in log(1 + c x). A larger c separates near positions better. Learned.", ge=1e-3,
        le=100.0,
    )  # fmt: skip
    fire_threshold: float | None = setting(
        None, "Threshold L",
        "Distances are relative to the position, or to L if L is larger. Learned. Auto: a quarter of the trained length.",
        ge=0.5, le=65536.0,
    )  # fmt: skip

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(1,), (1,), *dense_shapes(1, self.fire_width), *dense_shapes(self.fire_width, config.n_heads)]


SPEC = EncodingSpec(
    name="fire", label="FIRE", acts_on="scores", settings=FireSettings,
    equation=r"e_{ij} = q_i \cdot k_j / \sqrt{d_h} + f_h(\psi(i-j) / \psi(\max(L, i))),\quad \psi(x) = \log(1 + c x)",
    source="Li et al. 2023, Functional Interpolation for Relative Positions Improves Long Context Transformers", url="https://arxiv.org/abs/2310.04418",
    layer="engine.encodings.fire.layer:Fire", color="#F33910", symbols=(("d_h", "head_width"),),
)  # fmt: skip
