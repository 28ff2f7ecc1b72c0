"""The registry of documented issues, in the order of the map. Torch-free.

To add one: write ``engine/issues/<name>.py`` with an :class:`engine.issues.issue.Issue`, and add one line here.
"""

from __future__ import annotations

from engine.issues import fixed_encoding, longer_sequences, missing_mask, no_encoding, stacking_does_not_help
from engine.issues.issue import Issue

ISSUES: dict[str, Issue] = {
    module.ISSUE.slug: module.ISSUE
    for module in (
        # Depth
        # Self-attention
        missing_mask,
        # Positional encoding
        longer_sequences,
        stacking_does_not_help,
        fixed_encoding,
        no_encoding,
    )
}
