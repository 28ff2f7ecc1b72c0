"""Permutation: in the order 3 1 2, 3 1 4 → 4 3 1. One fixed order, unknown to the model and the same in every sequence:
y_i = x_π(i). The offset π(i) - i differs at each position, so nothing but the absolute position tells it.
"""

from engine.settings.fields import setting
from engine.tasks.base import TRANSDUCER, SymbolSettings, TaskSpec


class PermutationSettings(SymbolSettings):
    permutation_seed: int = setting(
        0, "Permutation", "Seed of the order. The run's seed does not change it.", ge=0, le=2**31 - 1
    )


SPEC = TaskSpec(
    "permutation", "Permutation", "Write the symbols in a fixed order, which the model must find out.",
    "order 3 1 2: 3 1 4 → 4 3 1", PermutationSettings, TRANSDUCER, group="rewrite", order_matters=True,
)  # fmt: skip
