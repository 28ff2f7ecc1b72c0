"""Sort: 3 1 4 → 1 3 4. A decoder reads ``3 1 4 1 3 4``; content decides, position hardly."""

from engine.tasks.rule import TaskRule

TASK = TaskRule(answer=lambda source, settings: source.sort(dim=1).values)
