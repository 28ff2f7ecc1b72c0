"""The registry of documented issues, in the order of the map.

To add one: write ``engine/experiments/issues/<name>.py`` with an :class:`engine.experiments.issues.issue.Issue`, and add one line here.
"""

from __future__ import annotations

from pkgutil import resolve_name

from engine.experiments.issues.issue import Issue

NAMES = (
    # Depth
    "overfitting_depth",
    "missing_skips",
    "no_normalization",
    "interpretability",
    "shared_layers",
    # Self-attention
    "data_hunger",
    "quadratic_cost",
    "parameter_growth",
    "trivial_solutions",
    "missing_mask",
    "heads",
    "overlapping_windows",
    # Positional encoding
    "longer_sequences",
    "stacking_does_not_help",
    "fixed_encoding",
    "position_shortcut",
    "learned_needs_data",
    "no_encoding",
    "table_scale",
)
"""The modules, in the order of the map."""
ISSUES: dict[str, Issue] = {
    issue.slug: issue for issue in (resolve_name(f"engine.experiments.issues.{name}:ISSUE") for name in NAMES)
}
