"""The registry of documented issues, in the order of the map. Torch-free.

To add one: write ``engine/issues/<name>.py`` with an :class:`engine.issues.issue.Issue`, and add one line here.
"""

from __future__ import annotations

from engine.issues import learned_needs_data, missing_mask, position_shortcut, table_scale, trivial_solutions
from engine.issues.issue import Issue

ISSUES: dict[str, Issue] = {
    module.ISSUE.slug: module.ISSUE
    for module in (
        # Depth
        # Self-attention
        trivial_solutions,
        missing_mask,
        # Positional encoding
        position_shortcut,
        learned_needs_data,
        table_scale,
    )
}
