"""The registry of documented issues, in the order of the map.

To add one: write ``engine/experiments/issues/<name>.py`` with an :class:`engine.experiments.issues.issue.Issue`, import it here
and add it to the list.
"""

from __future__ import annotations

from engine.experiments.issues import (
    data_hunger,
    fixed_encoding,
    heads,
    interpretability,
    learned_needs_data,
    longer_sequences,
    missing_mask,
    missing_skips,
    no_encoding,
    no_normalization,
    overfitting_depth,
    overlapping_windows,
    parameter_growth,
    position_shortcut,
    quadratic_cost,
    shared_layers,
    stacking_does_not_help,
    table_scale,
    trivial_solutions,
)
from engine.experiments.issues.issue import Issue

ISSUES: dict[str, Issue] = {
    module.ISSUE.slug: module.ISSUE
    for module in (
        # Depth
        overfitting_depth,
        missing_skips,
        no_normalization,
        interpretability,
        shared_layers,
        # Self-attention
        data_hunger,
        quadratic_cost,
        parameter_growth,
        trivial_solutions,
        missing_mask,
        heads,
        overlapping_windows,
        # Positional encoding
        longer_sequences,
        stacking_does_not_help,
        fixed_encoding,
        position_shortcut,
        learned_needs_data,
        no_encoding,
        table_scale,
    )
}
