"""What the board shows: an experiment as it stands at this moment, or evidence as it was left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.experiments.experiment import Experiment
from engine.experiments.issues.issue import Arm, Issue
from engine.experiments.published import trials_of
from engine.experiments.report import Report
from engine.experiments.store import Evidence, latest
from engine.experiments.trial import Curve, Trial, curves_of


@dataclass(frozen=True)
class Growing:
    """A trial under way."""

    arm: str
    seed: int
    share: float
    curves: dict[str, Curve]
    queue_place: int | None = None


@dataclass(frozen=True)
class Shown:
    issue: Issue
    report: Report
    trials: Sequence[Trial]
    growing: Sequence[Growing]
    state: str
    """Of the experiment; ``kept`` for evidence from the disk, ``shipped`` for what came with this version."""
    done: float = 1.0
    seconds_left: float | None = None
    problem: str = ""
    from_before: int = 0
    """Trials that were not trained again."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        return self.issue.arms_of(self.report.extended)

    @property
    def seeds(self) -> list[int]:
        return self.report.seeds

    @property
    def trained(self) -> list[Arm]:
        """The arms that are trained; others are measured on their first weights and have no curve."""
        return [arm for arm in self.arms if self.issue.config(arm).steps > 1]

    @property
    def curves(self) -> bool:
        """Whether there is, or will be, anything to see along training."""
        return bool(self.trained) and (self.state == "running" or any(trial.curves for trial in self.trials))

    @property
    def stamp(self) -> tuple[object, ...]:
        """Changes whenever there is something new to see."""
        under_way = tuple((trial.arm, trial.seed, trial.share, trial.queue_place) for trial in self.growing)
        return self.state, len(self.trials), under_way, self.report.seeds_done, self.report.seconds


def of_experiment(experiment: Experiment) -> Shown:
    # Read before the trials: one that ends between the two is then shown twice at worst, never not at all.
    under_way = experiment.under_way
    trials = experiment.trials
    ended = {(trial.arm, trial.seed) for trial in trials}
    return Shown(
        issue=experiment.issue,
        report=experiment.report,
        trials=trials,
        growing=[
            Growing(
                one.arm.name, one.seed, one.share, curves_of(one.events, experiment.issue.curves), one.run.queue_place
            )
            for one in under_way
            if (one.arm.name, one.seed) not in ended
        ],
        state=experiment.state,
        done=experiment.done,
        seconds_left=experiment.seconds_left,
        problem=experiment.problem,
        from_before=len(experiment.from_before),
    )


def of_evidence(issue: Issue, evidence: Evidence) -> Shown:
    return Shown(issue, evidence.report, evidence.trials, (), "kept", from_before=evidence.from_before)


def of_latest(issue: Issue) -> Shown | None:
    """What the last run on this machine found, where it can be read."""
    evidence = latest(issue.slug)
    return of_evidence(issue, evidence) if evidence else None


def of_shipped(issue: Issue, report: Report) -> Shown:
    return Shown(issue, report, trials_of(report), (), "shipped")


def fits(issue: Issue, report: Report) -> bool:
    """Whether a report speaks of the arms and claims that the issue has today."""
    claims = [claim.sentence for claim in issue.claims_of(report.extended)]
    arms = [arm.name for arm in issue.arms_of(report.extended)]
    return claims == [claim.claim for claim in report.claims] and arms == [arm.name for arm in report.arms]
