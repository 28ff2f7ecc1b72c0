"""An issue for ``tests.engine.fake_training``, whose loss at the end is 1 / (steps + seed + 1)."""

from typing import Any

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue, Publication
from engine.experiments.key_figure import KeyFigure, Row
from engine.experiments.report import Report, report
from engine.experiments.trial import Trial


def fake_issue(**changes: Any) -> Issue:
    facts: dict[str, Any] = {
        "slug": "fake",
        "group": "depth",
        "title": "Fake",
        "summary": "Fewer steps leave a higher loss.",
        "mechanism": "$1 / (s + 1)$",
        "base": {"steps": 9, "learning_rate": 1e-6},
        "arms": (
            Arm("short", "fault", {"steps": 1}, "loss"),
            Arm("long", "control", {}, "loss"),
            Arm("longest", "remedy", {"steps": 40}, "loss", extended=True),
        ),
        "claims": (
            Claim("short", difference("short", "long", "loss"), 0.01, unit="nats", sentence="Short runs end higher."),
            Claim("long", above("long", "loss", 1.0), 0.01, "less", unit="nats", sentence="Long ones end low."),
            Claim("longest", difference("longest", "long", "loss"), 1e-4, "less", unit="nats", sentence="Even lower."),
        ),
        "minutes": 7,
        "key_figure": KeyFigure(
            claim="short",
            sample="reads 1, must write 1",
            question="Train for one step: what happens to the loss?",
            quantity="Loss (nats)",
            subject="the loss",
            change="With one step",
            rows=(Row("nine steps", "long", "loss"), Row("one step", "short", "loss")),
            remedy="Train longer.",
            unit="nats",
        ),
        "remedies": ("a", "b", "c"),
        "sources": (Publication("Nobody 2000", "https://example.org/"),),
    }
    return Issue(**{**facts, **changes})


def fake_report(seeds: range = range(6), short: float = 0.5, noise: float = 0.01) -> Report:
    """The report on trials whose short arm ends at this loss, and a little higher at every other seed; the long one ends at .1."""
    trials = [Trial("short", seed, {"loss": short + noise * (seed % 2)}) for seed in seeds]
    trials += [Trial("long", seed, {"loss": 0.1}) for seed in seeds]
    return report(fake_issue(), trials, seeds, seconds=12)
