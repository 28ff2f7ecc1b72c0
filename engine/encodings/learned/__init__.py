"""A learned table of position embeddings: settings, parameters and registry row."""

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape
from engine.settings.fields import setting


class LearnedSettings(EncodingSettings):
    table_init_std: float | None = setting(
        None, "Table init scale",
        "Standard deviation of the table's first values. Auto: as the token embedding's.", ge=0.0, le=10.0,
    )  # fmt: skip

    @property
    def init_std(self) -> float | None:
        return self.table_init_std

    @property
    def ends_at_trained_length(self) -> bool:
        return True

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(max_positions, config.d_model)]


SPEC = EncodingSpec(
    name="learned", label="Learned table", acts_on="embedding", settings=LearnedSettings,
    equation=r"h_i^{(0)} = E_{x_i} + P_i,\quad P \in \mathbb{R}^{n \times d}\ \text{trained}",
    source="Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1", url="https://arxiv.org/abs/1705.03122",
    layer="engine.encodings.learned.layer:Learned", color="#E1893E", symbols=(("n", "seq_len"), ("d", "d_model")),
)  # fmt: skip
