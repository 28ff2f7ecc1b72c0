"""“Which one should I use?”: the experiment behind the table, its cells, the advice, published numbers, and a row measured here."""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan

import pytest

from engine.encodings import ENCODINGS
from engine.estimate.prediction import predict
from engine.experiments.choice import table
from engine.experiments.choice.advice import advice
from engine.experiments.choice.qualities import CHOICE, COMPARED, QUALITIES, SETS, arm_name, arm_of, row_of, share
from engine.experiments.choice.table import Column, beside_papers, column
from engine.experiments.comparison import DESIGN
from engine.experiments.experiment import PILOT_SEEDS, Experiment
from engine.experiments.frames import EVIDENCE, evidence_frame
from engine.experiments.rates import is_tuned
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.tuned_run import TunedRun
from engine.experiments.trial import Trial
from engine.settings.errors import ConfigError
from tests.engine.experiments.ten_symbols import CHOICE_HAS_TEN_SYMBOLS

OFFSETS, TEXT, SHORT = (QUALITIES[name] for name in ("offsets", "text", "short"))
pytestmark = pytest.mark.usefixtures("own_data_folder")


@pytest.fixture(autouse=True)
def _nothing_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "shipped_trials", lambda slug: [])


def trials(quality: str, by_encoding: Mapping[str, Mapping[str, float]]) -> list[Trial]:
    arms = {arm_name(QUALITIES[quality], name): dict(numbers) for name, numbers in by_encoding.items()}
    return [Trial(arm, seed, numbers) for arm, numbers in arms.items() for seed in range(16)]


def short(noise: float = 0.0, seeds: int = 16, **accuracies: float) -> list[Trial]:
    """Trials on short sequences whose accuracies, by encoding, differ by the noise at every other seed."""
    return [
        Trial(arm_name(SHORT, name), seed, {"accuracy": accuracy + noise * (seed % 2)})
        for name, accuracy in accuracies.items()
        for seed in range(seeds)
    ]


def states(found: Column) -> dict[str, str]:
    return {name: cell["state"] for name, cell in found.cells.items() if cell["state"] != "not measured"}


def test_every_encoding_is_measured_in_every_quality_and_the_models_of_a_quality_differ_in_it_alone() -> None:
    assert len(CHOICE.arms) == len(QUALITIES) * len(COMPARED)
    for quality in QUALITIES.values():
        plain = [CHOICE.untuned().config(CHOICE.arm(arm_name(quality, name))) for name in COMPARED]
        assert len({config.replace(pos_encoding="nope") for config in plain}) == 1
        assert [config.pos_encoding for config in plain] == list(COMPARED)
        assert all(is_tuned(CHOICE.arm(arm_name(quality, name))) for name in COMPARED)
        assert quality.lengths == () or quality.lengths == tuple(quality.lengths[0] * times for times in quality.times)
        if quality.lengths:
            assert (plain[0].seq_len, plain[0].test_lengths) == (quality.lengths[0], quality.lengths)
    assert {paper.baseline for quality in QUALITIES.values() for paper in quality.papers} <= set(COMPARED)
    assert max(predict(CHOICE.config(arm)).parameters for arm in CHOICE.arms) < 200_000


def test_encodings_are_the_best_as_good_worse_undecided_or_cannot_be_run() -> None:
    found = column(SHORT, here=[*short(rope=0.9, alibi=0.89, nope=0.6), *short(learned=0.82, noise=0.1)])
    assert states(found) == {"rope": "best", "alibi": "as good", "nope": "worse", "learned": "undecided"}
    assert found.cells["nope"]["behind"] == pytest.approx(0.3)
    assert found.cells["rope"]["ci"] == pytest.approx((0.9, 0.9))
    assert (found.best, found.solved) == ("rope", True)
    assert share(SHORT, 0.75) == pytest.approx(0.5), "guessing gives .5"

    lucky = [Trial(arm_name(SHORT, "rope"), seed, {"accuracy": 0.9 if seed < 8 else 0.5}) for seed in range(16)]
    found = column(SHORT, here=[*short(nope=0.7, alibi=0.7), *lucky])
    assert states(found)["nope"] == "undecided", "the best of the first half is not so on the second"
    failed = Trial(arm_name(SHORT, "learned"), 1, {}, outcome="NaN")
    cell = column(SHORT, here=[*short(rope=0.9), *short(learned=0.9, seeds=1), failed]).cells["learned"]
    assert (cell["state"], cell["seeds"], cell["failed"]) == ("undecided", 1, 1)

    rope, alibi = {"accuracy@12": 1.0, "accuracy@48": 0.8}, {"accuracy@12": 0.5, "accuracy@48": 0.5}
    far = trials("offsets", {"rope": rope, "alibi": alibi, "learned": {"accuracy@12": 1.0}})
    assert states(column(OFFSETS, 4, far)) == {"rope": "best", "alibi": "not learned", "learned": "no row"}
    assert states(column(OFFSETS, 1, far)) == {"learned": "best", "rope": "as good", "alibi": "worse"}
    lower = column(TEXT, here=trials("text", {"rope": {"loss@32": 2.0}, "nope": {"loss@32": 2.3}}))
    assert states(lower) == {"rope": "best", "nope": "worse"}, "a lower loss is better"


def test_the_advice_is_a_sentence_with_its_condition_or_says_that_there_is_no_answer() -> None:
    nothing = column(SHORT)
    assert (set(nothing.cells), advice([]).words) == (set(COMPARED), "")
    assert "There is no answer: nothing was measured" in advice([nothing]).words
    guessing = column(SHORT, here=short(rope=0.6, nope=0.5))
    assert "no encoding gets half of the way from guessing to perfect" in advice([guessing]).words

    one = column(SHORT, here=short(rope=0.9, nope=0.6))
    said = advice([one])
    assert said.words == "RoPE: it is better than every other one that was measured, in “majority” (16 seeds)."
    assert (said.good, said.open, said.worse) == (("rope",), (), ("nope",))
    assert sorted(said.order) == sorted(COMPARED)
    alike = "RoPE and None (NoPE): in “majority”, they differ from the best by less than 0.05 (16 seeds)."
    assert advice([column(SHORT, here=short(rope=0.9, nope=0.88))]).words == alike

    longer = {"nope": {"accuracy@12": 1.0, "accuracy@48": 0.9}, "rope": {"accuracy@12": 1.0, "accuracy@48": 0.2}}
    far = column(OFFSETS, 4, trials("offsets", longer))
    said = advice([one, far])
    assert said.good == ()
    assert said.words == (
        "No encoding is among the best in all of this. The best are RoPE in “majority”; "
        "None (NoPE) in “3 back” at 4 times the trained length."
    )
    assert "3 back” at 4 times" in advice([far]).words
    unsure = column(SHORT, here=[*short(rope=0.9), *short(nope=0.82, noise=0.1)])
    assert advice([unsure]).words.endswith("The seeds do not decide about None (NoPE).")


def test_a_published_number_stands_beside_ours_with_its_sign_against_the_baseline() -> None:
    sinusoidal, alibi, rope = ({"loss@32": near, "loss@64": far} for near, far in ((2.0, 2.4), (2.0, 2.1), (1.9, 2.9)))
    here = trials("text", {"sinusoidal": sinusoidal, "alibi": alibi, "rope": rope})
    longer = column(TEXT, 2, here)
    assert [(row.number, row.baseline, row.agrees) for row in beside_papers(longer, "alibi")] == [(18.73, 43.54, True)]
    assert [row.agrees for row in beside_papers(longer, "rope")] == [False], "theirs is better than sinusoids"
    assert [row.agrees for row in beside_papers(longer, "t5_bias")] == [None], "ours was not measured"
    equal = column(TEXT, 2, trials("text", {"sinusoidal": alibi, "alibi": alibi}))
    assert [row.agrees for row in beside_papers(equal, "alibi")] == [None], "ours are not told apart"
    assert beside_papers(longer, "sinusoidal") == beside_papers(longer, "kerple") == []
    assert beside_papers(column(TEXT, 8, here), "alibi") == []
    far = {
        name: {"accuracy@12": 1.0, "accuracy@24": accuracy} for name, accuracy in (("nope", 0.4), ("sinusoidal", 0.7))
    }
    (row,) = beside_papers(column(OFFSETS, 2, trials("offsets", far)), "nope")
    assert (row.number, row.agrees) == (0.69, False), "theirs is higher, and so better"


def test_this_machines_trials_come_before_those_of_this_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "shipped_trials", lambda slug: short(rope=0.6, nope=0.8))
    found = column(SHORT, here=short(rope=0.9, seeds=8)).cells
    rope, nope = ((cell["number"], cell["seeds"], cell["origin"]) for cell in (found["rope"], found["nope"]))
    assert rope == (pytest.approx(0.9), 8, "this machine")
    assert nope == (pytest.approx(0.8), 16, "this version")


def test_a_design_has_a_row_of_its_own_for_each_set_of_parts() -> None:
    parts = {"design_features": "table"}
    arm = row_of(DESIGN, parts).arms[0]
    assert arm.name != row_of(DESIGN, {"design_features": "fourier"}).arms[0].name
    found = column(OFFSETS, here=[Trial(arm.name, seed, {"accuracy@12": 1.0}) for seed in range(16)], design=parts)
    assert states(found) == {DESIGN: "best"}
    assert DESIGN not in column(OFFSETS, here=[]).cells
    with pytest.raises(ConfigError):
        row_of(DESIGN, {"design_features": "nonsense"}).config(row_of(DESIGN, {"design_features": "nonsense"}).arms[0])


def test_a_row_for_each_encoding_of_each_column() -> None:
    frame = evidence_frame([column(SHORT, here=short(rope=0.9, nope=0.6)), column(OFFSETS, 4, [])])
    assert (list(frame), len(frame)) == (EVIDENCE, 2 * len(COMPARED))
    first = frame[frame["encoding"] == "nope"].iloc[0]
    assert (first["state"], first["number"], first["seeds"]) == ("worse", pytest.approx(0.6), 16)
    assert frame["low"].isna().sum() == 2 * len(COMPARED) - 2
    assert isnan(frame.iloc[-1]["number"])
    assert evidence_frame([]).empty


class Instant(ExperimentRun):
    """A run whose trials end at once: the higher the rate, the more accurate."""

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(experiment, None, find=self._at_once)  # type: ignore[arg-type]

    def _at_once(self, arm: object, seed: int) -> Trial:
        rate = self.experiment.config(arm).learning_rate  # type: ignore[arg-type]
        return Trial(arm.name, seed, {"accuracy": min(1.0, rate), "best_loss": 1.0})  # type: ignore[attr-defined]


def test_a_row_for_which_no_rate_can_be_chosen_fails_with_the_sentence() -> None:
    row = replace(row_of("rope").untuned(), arms=(arm_of(SHORT, "rope"),))

    def begin(experiment: Experiment) -> ExperimentRun:
        return ExperimentRun(experiment, None, find=lambda arm, seed: Trial(arm.name, seed, {"loss": 1.0}))  # type: ignore[arg-type]

    task = TunedRun(row, SETS, begin).start()
    assert task.wait(60)
    assert (task.state, task.problem) == (
        "failed",
        "No learning rate can be chosen for the arm “Short sequences: RoPE” by “accuracy”: its trials have only loss.",
    )


@CHOICE_HAS_TEN_SYMBOLS
def test_a_row_without_rates_gets_its_grids_first_and_is_measured_at_the_best_ones() -> None:
    begun = list[Experiment]()

    def begin(experiment: Experiment) -> ExperimentRun:
        begun.append(experiment)
        return Instant(experiment)

    task = TunedRun(row_of("rope").untuned(), SETS, begin).start()
    assert task.wait(60)
    assert (task.state, task.part) == ("finished", "seeds 100 to 107")
    *grids, _, last = begun
    assert [run.experiment for run in task.results] == begun[-2:]
    assert [run.seeds[0] for run in task.results] == list(SETS)
    assert grids
    assert all(list(part.seed_range) == list(PILOT_SEEDS) for part in grids)
    assert [arm.name for arm in last.arms] == [arm_name(quality, "rope") for quality in QUALITIES.values()]
    assert last.config(last.arm(arm_name(SHORT, "rope"))).learning_rate == 1.0
    begun.clear()
    TunedRun(last, SETS[:1], begin).start().wait(60)
    assert begun == [replace(last, first_seed=0)], "its rates are known"
    assert set(ENCODINGS) - set(COMPARED) == {DESIGN}
