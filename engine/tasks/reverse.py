"""Reverse: 3 1 4 → 4 1 3.

A decoder reads ``3 1 4 4 1 3`` and predicts each next token: the first half cannot be known, the second half
can. A first half above chance is the alarm that the mask leaks.
"""

from engine.tasks.rule import TaskRule

TASK = TaskRule(answer=lambda source, settings: source.flip(1))
