"""The registry of documented issues, in the order of the map. Torch-free.

To add one: write ``engine/issues/<name>.py`` with an :class:`engine.issues.issue.Issue`, and add one line here.
"""

from __future__ import annotations

from engine.issues import heads, interpretability, missing_mask, overlapping_windows
from engine.issues.issue import Issue

ISSUES: dict[str, Issue] = {
    module.ISSUE.slug: module.ISSUE
    for module in (
        # Depth
        interpretability,
        # Self-attention
        missing_mask,
        heads,
        overlapping_windows,
        # Positional encoding
    )
}
