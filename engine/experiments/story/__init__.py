"""The story "Reverse in six steps": one line of thought about one task, a small run at each step."""

from engine.experiments.story.steps import STEPS

__all__ = ["STEPS"]
