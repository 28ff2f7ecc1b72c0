"""The data of the board: a running experiment at this moment, or stored evidence."""

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
    """The state of the experiment; ``kept`` for stored evidence, ``shipped`` for evidence that comes with this version."""
    done: float = 1.0
    seconds_left: float | None = None
    problem: str = ""
    from_before: int = 0
    """The number of trials that were not trained again."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        return self.issue.arms_of(self.report.extended)

    @property
    def seeds(self) -> list[int]:
        return self.report.seeds

    @property
    def trained(self) -> list[Arm]:
        """The arms that are trained; others are measured at their first weights and have no curve."""
        return [arm for arm in self.arms if self.issue.config(arm).steps > 1]

    @property
    def curves(self) -> bool:
        """Whether there are, or will be, training curves."""
        return bool(self.trained) and (self.state == "running" or any(trial.curves for trial in self.trials))

    @property
    def stamp(self) -> tuple[object, ...]:
        """A value that changes whenever there is something new to draw."""
        under_way = tuple((trial.arm, trial.seed, trial.share, trial.queue_place) for trial in self.growing)
        return self.state, len(self.trials), under_way, self.report.seeds_done, self.report.seconds


def of_experiment(experiment: Experiment) -> Shown:
    # Read before the trials: one that ends between the two reads is then shown twice at worst, never not at all.
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
    """The data of the last experiment on this machine, if it can be read."""
    evidence = latest(issue.slug)
    return of_evidence(issue, evidence) if evidence else None


def of_shipped(issue: Issue, report: Report) -> Shown:
    return Shown(issue, report, trials_of(report), (), "shipped")


def fits(issue: Issue, report: Report) -> bool:
    """Whether a report matches the arms and claims that the issue has today."""
    claims = [claim.sentence for claim in issue.claims_of(report.extended)]
    arms = [arm.name for arm in issue.arms_of(report.extended)]
    return claims == [claim.claim for claim in report.claims] and arms == [arm.name for arm in report.arms]
