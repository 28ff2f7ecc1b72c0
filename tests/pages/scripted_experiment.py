"""Issues of every size and experiments without training: the test says when a trial ends and with which numbers."""

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.config.run_config import RunConfig
from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import Issue, Publication, Published
from engine.experiments.key_figure import KeyFigure, Row
from engine.experiments.trial import Trial, read_trial
from engine.runs.events import Ended, Event, Finished, Progress, Started
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.serving.allowances import Allowances
from engine.serving.limits import Limits
from engine.settings.costs import Memory

MEMORY = Memory(parameters=8, gradients=8, optimizer=16, saved=100, scores=10)
LONG = (
    "Trained on short sequences only, a model with a sinusoidal encoding loses most of what it learned when it is asked about "
    "sequences twice as long, although nothing about the task has changed."
)
ROLES: tuple[Role, ...] = ("fault", "control", "remedy", "comparison")


def issue_of(arms: int, claims: int = 1, slug: str = "scripted", *, lines: bool = False, **more: Any) -> Issue:
    """An issue with so many arms of all roles and so many claims, every other one long."""
    made = tuple(
        Arm(
            f"arm {n}" if n % 3 else f"arm {n} with a long name: residual branches scaled",
            ROLES[n % 4],
            {"n_layers": 2 + n} if n != 1 else {},
            "accuracy",
            line=f"line {n % 3}" if lines and n < arms - 2 else "",
            x=float(2 ** (n // 3)) if lines else None,
        )
        for n in range(arms)
    )
    first, second = made[0].name, made[min(1, arms - 1)].name
    return Issue(
        slug=slug,
        group="encoding",
        title=f"Scripted, {arms} arms",
        minutes=7,
        summary=f"{LONG} Another sentence.",
        mechanism="Inline $x_1$ and displayed $$\\sum_i x_i = 1$$ and on.",
        base={"task": "k_back", "steps": 40, "seq_len": 8},
        arms=made,
        claims=tuple(
            Claim(
                f"claim-{n}",
                difference(first, second, "accuracy") if arms > 1 else lambda values: values(first, "accuracy"),
                0.2 * (n + 1),
                unit="accuracy",
                direction="less" if n % 3 == 2 else "more",
                condition="at 512 sequences" if n % 4 == 1 else "",
                about=("issue", "condition", "remedy")[n % 3],
                sentence=LONG if n % 2 else f"Claim {n} holds.",
            )
            for n in range(claims)
        ),
        key_figure=KeyFigure(
            claim="claim-0",
            sample="reads 3 1 4, must write · 3 1",
            question="Change one thing: what happens to the accuracy?",
            quantity="Accuracy",
            subject="the accuracy",
            change="With a change",
            rows=(Row("before", second, "accuracy"), Row("after", first, "accuracy")),
            remedy="Do not change it.",
        ),
        remedies=("Use it.", "Test it.", "Read it."),
        sources=(Publication("Somebody et al. 2020, A paper, section 3", "https://example.org/paper"),),
        x_label="training length",
        **more,
    )


PUBLISHED = Published(
    source="Press et al. 2022, Table 2",
    what="Perplexity, 247 M parameters, WikiText-103.",
    columns=("512", "1012"),
    rows={"sinusoidal": (20.05, 43.54), "ALiBi": (19.73, 18.73)},
    ours={"sinusoidal": (("arm 1", "accuracy"),)},
    differs="Size, data, steps.",
)


def events_of(config: RunConfig, value: float) -> list[Event]:
    """A run that reaches this accuracy."""
    found: list[Event] = [Started(10, MEMORY, 100.0, {"loss": 2.3, "accuracy": 0.1}, 0.5, "cpu")]
    for step in range(1, config.steps + 1):
        loss = 0.5 + 1.8 * math.exp(-step * value / 10) + 0.02 * math.sin(step + config.seed)
        at = {"loss": loss, "accuracy": value * step / config.steps} if step % 10 == 0 else None
        found.append(Progress(step, loss, 1.0, 0.01, 1000.0, validation=at))
    return [*found, Finished(config.steps, {"loss": 0.5, "accuracy": value}, [], MEMORY, 0.1)]


def value_of(arm: Arm, seed: int) -> float:
    """Faults at .9, all others at .3 and a little noise."""
    noise = float(np.random.default_rng([seed, len(arm.name)]).normal(0, 0.02))
    return min(1.0, (0.9 if arm.role == "fault" else 0.3) + noise)


def trials_of(issue: Issue, seeds: Sequence[int]) -> list[Trial]:
    return [
        read_trial(arm.name, seed, events_of(issue.config(arm, seed), value_of(arm, seed)))
        for seed in seeds
        for arm in issue.arms_of()
    ]


class ScriptedPool:
    """A pool of one worker whose runs end at once, or when the test says so."""

    machines = SimpleNamespace(slots=1)

    def __init__(self, value: Callable[[RunConfig], float], *, at_once: bool = True) -> None:
        self.value, self.at_once = value, at_once
        self.submitted: list[Run] = []
        self.allowances, self.runs = Allowances(Limits()), Runs()

    def start(self) -> bool:
        return False

    def submit(self, request: RunRequest) -> Run:
        run = self.runs.create(request.config, request.visitor.id)
        self.submitted.append(run)
        if self.at_once:
            self.finish(run)
        return run

    def finish(self, run: Run) -> None:
        run.append(events_of(run.config, self.value(run.config)))

    def stop(self, run_id: str) -> None:
        run = self.runs.get(run_id)
        if run is not None and run.live:
            run.append([Ended(run.step, "stopped")])

    def health(self) -> SimpleNamespace:
        return SimpleNamespace(ready=0, cluster_is_gone=False)


Scripted = tuple[Issue, ScriptedPool]
