from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Shape
from engine.settings.fields import setting


class CopeSettings(EncodingSettings):
    cope_counts: int = setting(
        64, "Largest count + 1", "Number of learned vectors. Higher counts share the last one.", ge=2, le=512
    )

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(1 if causal else 2, self.cope_counts, config.head_width)]


SPEC = EncodingSpec(
    name="cope", label="CoPE", acts_on="scores", settings=CopeSettings,
    equation=r"e_{ij} = q_i \cdot (k_j + e[p_{ij}]),\quad p_{ij} = \sum_{t=j}^{i} \sigma(q_i \cdot k_t)",
    source="Golovneva et al. 2024, Contextual Position Encoding: Learning to Count What's Important (here the query is first "
    "divided by the square root of its width: the gates agree with the authors' listing, the position's term is smaller than there by "
    "that root)", url="https://arxiv.org/abs/2405.18719",
    layer="engine.encodings.cope.layer:Cope", color="#067446", per_layer=True, relative=True,
    numbered=False,
    shown_as=(
        "Gates that depend on the tokens count positions, so they differ from query to query. The figure shows the vectors of "
        "the counts. Its similarity is that with half-open gates."
    ),
)  # fmt: skip
