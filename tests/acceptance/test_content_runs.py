"""Content over real training: every prepared step of a lesson with every value shows its subject in eight of eight seeds; every
issue runs from its arms to its claims over the real pool, with a handful of steps."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.parts import parts_named
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.lessons import PREPARED
from engine.experiments.question import Direction
from engine.experiments.running.experiment_run import ExperimentRun
from engine.runs.events import Measuring
from engine.runs.log import EventLog
from engine.runs.store import Runs
from engine.serving.pool import Pool
from engine.settings.fields import Value
from engine.training.data import Data
from engine.training.evaluation import evaluate
from engine.training.train import prepare, train
from pages.parts.start import CONFIG, SKIP

pytestmark = pytest.mark.acceptance

STEPS = tuple(PREPARED.values())
# The possible right answers, by step and value. The page knows nothing of them: it reads each from the run.
EXPECTED: dict[tuple[int, Value], set[Direction]] = {
    **{(1, depth): {1} for depth in (1, 2, 4)},
    (2, "nope"): {0}, (2, "learned"): {1}, (2, "sinusoidal"): {1},
    (3, 1): {1}, (3, 2): {0, 1}, (3, 4): {0, 1},
    **{(4, encoding): {1} for encoding in ("rope", "t5_bias", "alibi", "shaw")},
    (5, 1): {-1}, (5, 2): {1}, (5, 3): {1},
    (6, True): {0, 1}, (6, False): {-1},
}  # fmt: skip


def test_every_value_of_every_step_is_expected() -> None:
    guides = [step.guide for step in STEPS if step.guide]
    assert EXPECTED.keys() == {(number, value) for number, guide in enumerate(guides, 1) for value in guide.values}


@pytest.mark.parametrize(("number", "value"), EXPECTED)
def test_a_step_shows_what_it_speaks_of_in_every_seed(number: int, value: Value) -> None:
    step, guide = STEPS[number - 1], STEPS[number - 1].guide
    assert guide is not None
    for seed in range(8):
        config = step.config.replace(**{guide.vary: value, "seed": seed})
        events = EventLog(event for event in train(config) if not isinstance(event, Measuring))
        observed = guide.question.observe(config, events)
        assert observed is not None
        assert set(observed.right) <= EXPECTED[number, value], (seed, observed)


@pytest.mark.parametrize("seed", range(4))
def test_without_skip_connections_the_start_page_loses_some_answers_to_the_network_behind_the_head(seed: int) -> None:
    config = CONFIG.replace(seed=seed)
    model, batch = prepare(config), Data(config).validation_batch()
    for _ in train(config, model):
        pass

    def right(*without: str) -> float:
        return evaluate(ablated(model, parts_named(config, without)), batch)["second_half_accuracy"]

    assert 0.2 < right(SKIP) < 0.9 < 0.95 < right(SKIP, "mlp.0")


FEW = 6
COUNTS_VISITS = "length_decay"  # A setting of arms whose numbers depend on how many steps are taken: they keep theirs


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_LAB_DATA", str(tmp_path_factory.mktemp("data")))
        with Pool(Runs(Path(tmp_path_factory.mktemp("runs"))), size=1) as pool:
            assert pool.wait_until_ready(120)
            yield pool


def shortened(issue: Issue) -> Issue:
    def few_steps(settings: dict[str, object]) -> dict[str, object]:
        if COUNTS_VISITS in settings:
            return settings
        cut = {"steps": FEW, **({"pretrain_steps": 2} if settings.get("pretrain_steps") else {})}
        return {**settings, **cut}

    arms = tuple(replace(arm, settings=few_steps(dict(arm.settings))) for arm in issue.arms)
    return replace(issue, base=few_steps(dict(issue.base)), arms=arms)


@pytest.mark.parametrize("slug", ISSUES)
def test_each_claim_finds_its_numbers(slug: str, pool: Pool) -> None:
    run = ExperimentRun(replace(shortened(ISSUES[slug]), seeds=1), pool).start()
    assert run.wait(600)
    assert run.state == "finished", run.problem
    outcomes = {trial.arm: trial.failure for trial in run.trials if trial.failure}
    assert all("no longer finite" in failure for failure in outcomes.values()), outcomes
    for claim in run.report.claims:
        assert claim.weighed.seeds == 1 or outcomes, claim.claim
