"""Copy: 3 1 4 → 3 1 4. A decoder reads ``3 1 4 3 1 4``."""

from engine.tasks.rule import TaskRule

TASK = TaskRule(answer=lambda source, settings: source)
