"""CoPE, contextual positions counted by gates: settings, parameters, costs and registry row."""

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import INDEX, SINGLE, Flops, Shape, StackShape, elementwise_flops, matmul_flops
from engine.settings.fields import setting


class CopeSettings(EncodingSettings):
    cope_counts: int = setting(
        64, "Largest count + 1", "Vectors that are learned; higher counts share the last.", ge=2, le=512
    )

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return [(1 if causal else 2, self.cope_counts, config.head_width)]

    def flops(self, stack: StackShape) -> Flops:
        """The gates are a second product of every query and key. Then for each direction: the sums of gates, the queries times the
        vectors of the counts, and the interpolation between two of them (the share, its rest, two products, their sum)."""
        width, pairs = stack.config.head_width, stack.queries * stack.length
        gates = matmul_flops(stack.queries, width, stack.length) + elementwise_flops(pairs, 1)
        direction = matmul_flops(stack.queries, width, self.cope_counts) + elementwise_flops(pairs, 6)
        return stack.config.n_layers * (gates + (1 if stack.causal else 2) * direction)

    def layer_bytes_bound(self, stack: StackShape) -> int:
        """For each pair of a query and a key: scores, gates, counts and shares, two indices and two gathered products for each
        direction; and the products of the queries with the vectors."""
        directions = 1 if stack.causal else 2
        pair = 4 * SINGLE + directions * (10 * SINGLE + 2 * INDEX)
        return stack.queries * (stack.length * pair + 4 * SINGLE * directions * self.cope_counts)

    def has_memory_formula(self, config: BaseConfig) -> bool:
        return False


SPEC = EncodingSpec(
    name="cope", label="CoPE", acts_on="scores", settings=CopeSettings,
    equation=r"e_{ij} = q_i \cdot (k_j + e[p_{ij}]),\quad p_{ij} = \sum_{t=j}^{i} \sigma(q_i \cdot k_t)",
    source="Golovneva et al. 2024, Contextual Position Encoding: Learning to Count What's Important (here the query is first "
    "divided by the square root of its width, also in the gates)", url="https://arxiv.org/abs/2405.18719",
    layer="engine.encodings.cope.layer:Cope", color="#067446", pair_flops=2000, per_layer=True, relative=True,
    numbered=False,
    shown_as=(
        "Positions are counted by gates that open as the tokens say, so a token's position differs from query to query. Shown are the "
        "vectors of the counts, and how alike positions would be if every gate stood half open."
    ),
)  # fmt: skip
