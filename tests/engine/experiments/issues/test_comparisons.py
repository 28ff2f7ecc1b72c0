"""What the comparisons of single issues rest on: equal sizes, one factor at a time, levels and formulas that the text states."""

import itertools
from collections import Counter
from statistics import fmean

import numpy as np
import pytest

from engine.analysis.measurements.held_out import band, exposures
from engine.architectures import ARCHITECTURES
from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.estimate.matching import n_parameters
from engine.estimate.memory import count_parameters
from engine.experiments.issues import ISSUES
from engine.experiments.issues.encoding.learned_needs_data import MOSTLY_SHORT, OFTEN, RARELY
from engine.experiments.issues.encoding.no_encoding import bag_bound


def config_of(slug: str, name: str) -> RunConfig:
    return ISSUES[slug].config(ISSUES[slug].arm(name))


@pytest.mark.parametrize(
    ("slug", "fault", "control", "what"),
    [
        ("overfitting-depth", "6 layers, 128 sequences", "1 layer, 128 sequences", {"n_layers"}),
        ("missing-skips", "8 layers, no skips", "8 layers, skips", {"skips"}),
        ("missing-skips", "24 layers, no skips", "24 layers, skips", {"skips"}),
        ("missing-skips", "24 layers, no skips, no LayerNorm", "24 layers, no skips", {"norm"}),
        ("no-normalization", "SGD, no norm", "SGD, pre-LN", {"norm"}),
        ("no-normalization", "AdamW, no norm", "AdamW, pre-LN", {"norm"}),
        ("shared-layers", "one block at 4 depths", "own block at each depth", {"share_layers"}),
    ],
)
def test_one_thing_changes(slug: str, fault: str, control: str, what: set[str]) -> None:
    a, b = config_of(slug, fault).flat(), config_of(slug, control).flat()
    assert {name for name in a if a[name] != b[name]} == what


@pytest.mark.parametrize("slug", ["data-hunger", "quadratic-cost"])
def test_models_that_are_compared_have_as_many_parameters(slug: str) -> None:
    issue = ISSUES[slug]
    plain = [issue.config(arm) for arm in issue.arms if "pretrain_steps" not in arm.settings]
    plain = [config for config in plain if config.pos_encoding == issue.base["pos_encoding"]]
    for config in plain:
        same_task = [n_parameters(other) for other in plain if other.task == config.task and other.family == "decoder"]
        assert n_parameters(config) == pytest.approx(same_task[0], rel=0.03), config.family
    assert {config.family for config in plain} >= {"decoder", "gru", "cnn"}


def test_heads_of_one_line_have_equally_many_parameters() -> None:
    issue = ISSUES["heads"]
    for line in {arm.line for arm in issue.arms if arm.line}:
        assert len({n_parameters(issue.config(arm)) for arm in issue.arms if arm.line == line}) == 1


def test_the_wide_shared_block_has_as_many_parameters_as_the_own_blocks() -> None:
    names = ("own block at each depth", "one wide block at 4 depths", "one block at 4 depths", "one block, once")
    own, wide, shared, once = (n_parameters(config_of("shared-layers", name)) for name in names)
    assert wide == pytest.approx(own, rel=0.02)
    assert (own, wide, shared) == (9382, 9510, 2710), "the notes of the issue say so"
    assert shared == once


def test_a_block_has_the_parameters_that_the_text_says() -> None:
    issue = ISSUES["parameter-growth"]
    for arm in issue.arms:
        config = issue.config(arm)
        d, f = config.d_model, config.mlp_width // config.d_model
        told = (4 * d**2 + 4 * d) + (2 * f * d**2 + (f + 1) * d) + 4 * d
        counts = count_parameters(config, **shapes(config).of_model)
        blocks = 1 if config.share_layers else config.n_layers
        assert counts["attention"] + counts["mlp"] + counts["norm"] == blocks * told + 2 * d  # and the last norm


def test_every_network_sees_the_whole_sequence_it_is_asked_about() -> None:
    issue = ISSUES["data-hunger"]
    for config in map(issue.config, issue.arms):
        seen = ARCHITECTURES[config.family].sees(config)
        assert seen is None or seen >= shapes(config).length


def test_windows_side_by_side_and_as_many_are_equally_many() -> None:
    config = config_of("overlapping-windows", "side by side")
    tokens, length = config.value("text_tokens"), shapes(config).length
    few = config_of("overlapping-windows", "overlapping, as many windows")
    assert few.dataset_size == (tokens - length) // length


def test_positions_are_visited_as_often_as_the_bands_say() -> None:
    config = config_of("learned-needs-data", "learned, mostly short")
    assert {OFTEN, RARELY} <= {band(times) for times in exposures(config)}
    assert MOSTLY_SHORT.items() <= config.flat().items()


@pytest.mark.parametrize(("length", "symbols"), [(1, 4), (3, 2), (4, 3), (5, 4)])
def test_the_bag_bound_by_counting_all_sequences(length: int, symbols: int) -> None:
    commonest = [max(Counter(word).values()) for word in itertools.product(range(symbols), repeat=length)]
    assert bag_bound(length, symbols) == pytest.approx(fmean(commonest) / length)


def test_a_table_without_rows_is_told_from_a_trial_that_is_missing() -> None:
    numbers = {"accuracy@12": [1.0, 1.0, np.nan], "accuracy@18": [np.nan, 0.4, np.nan]}
    effect = ISSUES["longer-sequences"].claim("learned-table").effect(lambda arm, metric: np.array(numbers[metric]))
    np.testing.assert_array_equal(effect, [1.0, 0.0, np.nan])
