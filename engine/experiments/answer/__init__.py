"""The answer to the question of the documents, as prose over the claims of the issues.

It holds no finding and no number: both are read from the evidence (:mod:`engine.experiments.shipped_claims`).
"""

from __future__ import annotations

from engine.experiments.answer import data_and_cost, depth, longer, positions, unexpected, wiring

QUESTION = "What could be the issues of a deep architecture that stacks self-attention layers on positional encoding?"
ANSWER = tuple(part.SECTION for part in (positions, longer, depth, wiring, data_and_cost, unexpected))
