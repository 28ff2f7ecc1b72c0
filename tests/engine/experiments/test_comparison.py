import numpy as np
import pytest

from engine.experiments import comparison as compared
from engine.experiments.comparison import DESIGN, TASKS, USUAL, Comparison, arm_name, over_the_best
from engine.experiments.report import report
from engine.experiments.trial import Trial
from engine.settings.errors import ConfigError

PREFIXES = ("design", "sinusoid", "table", "rope", "yarn", "pos")
"""The first words of the settings that belong to encodings."""


def test_arms_of_a_task_differ_in_the_encoding_alone_and_every_built_in_one_can_be_a_rival() -> None:
    experiment = Comparison({"design_features": "table", "design_readout": "direct"}).experiment
    assert len(experiment.arms) == len(TASKS) * (1 + len(USUAL))
    for task in TASKS:
        configs = [experiment.config(experiment.arm(arm_name(task, name)), seed=3).flat() for name in (DESIGN, *USUAL)]
        shared = [{k: v for k, v in config.items() if k.split("_")[0] not in PREFIXES} for config in configs]
        assert shared == [shared[0]] * len(shared)
    assert experiment.config(experiment.arms[0]).value("design_features") == "table"
    for name in compared.RIVALS:
        experiment = Comparison({}, (name,), ("permutation",)).experiment
        assert [experiment.config(arm).pos_encoding for arm in experiment.arms] == [DESIGN, name]


def test_the_overall_effect_is_against_the_best_other_and_waits_for_all() -> None:
    numbers = {DESIGN: [0.5, 0.6, 0.7], "learned": [0.4, 0.1, 0.1], "rope": [0.3, 0.3, np.nan]}
    by_arm = {arm_name("k_back", name): np.array(row) for name, row in numbers.items()}
    effect = over_the_best(("k_back",), ("learned", "rope"))(lambda arm, metric: by_arm[arm])
    np.testing.assert_allclose(effect, [0.2, 0.3, np.nan])  # rope has the better mean over the seeds that all have
    nothing = over_the_best(("k_back",), ("rope",))(lambda arm, metric: np.full(3, np.nan))
    assert np.isnan(nothing).all()


@pytest.mark.parametrize(("design", "finding"), [(0.9, "holds"), (0.5, "too small")])
def test_a_finding_comes_from_the_trials(design: float, finding: str) -> None:
    experiment = Comparison({}, ("learned",), ("permutation",)).experiment
    ours, rival = (arm.name for arm in experiment.arms)
    trials = [
        Trial(name, seed, {"accuracy": level + 0.01 * seed})
        for name, level in ((ours, design), (rival, 0.5))
        for seed in range(8)
    ]
    assert report(experiment, trials, range(8)).claims[0].finding == finding


@pytest.mark.parametrize(
    ("rivals", "tasks", "sentence"),
    [
        ((), ("k_back",), "against is empty; it must name 1 to 5"),
        (("designed",), ("k_back",), "against is designed"),
        (("rope", "rope"), ("k_back",), "against is rope,rope"),
        (("rope",), ("sort",), "tasks is sort; it must name 1 to 3"),
    ],
)
def test_a_bad_choice_is_named(rivals: tuple[str, ...], tasks: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        assert Comparison({}, rivals, tasks).experiment
    with pytest.raises(ConfigError, match="design_place"):
        assert Comparison({"design_features": "convolution", "design_place": "scores"}).experiment
