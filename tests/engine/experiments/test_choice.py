"""“Which one should I use?”: the experiment behind the table, its cells, the advice, published numbers and costs."""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan

import pytest

from engine.encodings import ENCODINGS
from engine.estimate.prediction import predict
from engine.experiments.benchmark import table
from engine.experiments.benchmark.advice import advice, least_regret, regrets
from engine.experiments.benchmark.costs import costs_of_encodings, shipped_times
from engine.experiments.benchmark.criteria import (
    CHOICE,
    COMPARED,
    CRITERIA,
    NEEDS,
    SETS,
    TIMES,
    Criterion,
    Paper,
    arm_name,
    model_of,
    needed_by,
    scope_of,
    share,
    turns_in_words,
)
from engine.experiments.benchmark.table import Column, beside_papers, column
from engine.experiments.comparison import DESIGN
from engine.experiments.experiment import CONFIRMATORY_SEEDS
from engine.experiments.frames import EVIDENCE, evidence_frame
from engine.experiments.rates import is_tuned
from engine.experiments.trial import Trial

OFFSETS, LOOKUP, TEXT = (CRITERIA[name] for name in ("offsets", "lookup", "text"))
SHORT = Criterion(
    slug="short", label="Short", need="A class for each sequence", task="majority: are most symbols high?", metric="accuracy",
    smallest=0.05, settings={"task": "cue_majority", "family": "encoder", "seq_len": 12, "steps": 200},
)  # fmt: skip
"""A made-up quality in which guessing gives .5."""
pytestmark = pytest.mark.usefixtures("own_data_folder")


@pytest.fixture(autouse=True)
def _nothing_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "shipped_trials", lambda slug: [])


def trials(quality: str, by_encoding: Mapping[str, Mapping[str, float]]) -> list[Trial]:
    arms = {arm_name(CRITERIA[quality], name): dict(numbers) for name, numbers in by_encoding.items()}
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
    assert len(CHOICE.arms) == len(CRITERIA) * len(COMPARED)
    for quality in CRITERIA.values():
        plain = [CHOICE.untuned().config(CHOICE.arm(arm_name(quality, name))) for name in COMPARED]
        assert len({config.replace(pos_encoding="nope") for config in plain}) == 1
        assert quality.specific.keys() <= set(COMPARED)
        assert [config.pos_encoding for config in plain] == list(COMPARED)
        assert all(is_tuned(CHOICE.arm(arm_name(quality, name))) for name in COMPARED)
        assert quality.lengths == () or quality.lengths == tuple(quality.lengths[0] * times for times in TIMES)
        if quality.lengths:
            assert (plain[0].seq_len, plain[0].test_lengths) == (quality.lengths[0], quality.lengths)
    assert {paper.baseline for quality in CRITERIA.values() for paper in quality.papers} <= set(COMPARED)
    assert max(predict(CHOICE.config(arm)).parameters for arm in CHOICE.arms) < 200_000
    assert (CHOICE.seed_range, SETS) == (CONFIRMATORY_SEEDS, (CONFIRMATORY_SEEDS[0],))
    assert model_of(TEXT).task_settings.n_symbols == 80


def test_qualities_of_one_need_are_asked_about_together_and_an_accuracy_only_where_it_can_differ() -> None:
    assert [quality.slug for quality in needed_by("few")] == ["few", "few_place"]
    assert set(NEEDS) == CRITERIA.keys() - {"few_place"} | {"parameters", "time"}
    assert (OFFSETS.times, LOOKUP.times, TEXT.times, CRITERIA["few"].times) == (
        (2, 4, 8),
        (2, 4, 8),
        (1, 2, 4, 8),
        (1,),
    )
    assert OFFSETS.number(1) == CHOICE.arm(arm_name(OFFSETS, "rope")).metric == "accuracy@12", (
        "still measured: who has learned"
    )


def test_the_models_of_a_quality_are_told_with_their_size() -> None:
    assert scope_of(TEXT) == "models of 2 layers, width 32 and about 22,000 parameters, trained at 32 characters"
    assert scope_of(OFFSETS).endswith("trained at up to 12 symbols")
    assert turns_in_words(model_of(TEXT, "rope")) == (
        "2 of the 4 pairs of dimensions of a head turn once or more within the trained length (base 100)."
    )
    assert "1 of the 4 pairs of dimensions of a head turns once" in turns_in_words(model_of(LOOKUP, "xpos"))
    assert turns_in_words(model_of(TEXT, "alibi")) == ""


def test_encodings_are_the_best_as_good_worse_undecided_or_cannot_be_run() -> None:
    found = column(SHORT, trials=[*short(rope=0.9, alibi=0.89, nope=0.6), *short(learned=0.82, noise=0.1)])
    assert states(found) == {"rope": "best", "alibi": "as good", "nope": "worse", "learned": "undecided"}
    assert found.cells["nope"]["behind"] == pytest.approx(0.3)
    assert found.cells["rope"]["ci"] == pytest.approx((0.9, 0.9))
    assert (found.best, found.solved) == ("rope", True)
    assert share(SHORT, 0.75) == pytest.approx(0.5), "guessing gives .5"

    lucky = [Trial(arm_name(SHORT, "rope"), seed, {"accuracy": 0.9 if seed < 8 else 0.5}) for seed in range(16)]
    found = column(SHORT, trials=[*short(nope=0.7, alibi=0.7), *lucky])
    assert states(found)["nope"] == "undecided", "the best of the first half is not so on the second"
    failed = Trial(arm_name(SHORT, "learned"), 1, {}, finding="NaN")
    cell = column(SHORT, trials=[*short(rope=0.9), *short(learned=0.9, seeds=1), failed]).cells["learned"]
    assert (cell["state"], cell["seeds"], cell["failed"]) == ("undecided", 1, 1)

    rope, alibi = {"accuracy@12": 1.0, "accuracy@48": 0.8}, {"accuracy@12": 0.5, "accuracy@48": 0.5}
    far = trials("offsets", {"rope": rope, "alibi": alibi, "learned": {"accuracy@12": 1.0}})
    assert states(column(OFFSETS, 4, far)) == {"rope": "best", "alibi": "not learned", "learned": "no row"}
    of_one_seed = states(column(SHORT, trials=short(rope=0.9, alibi=0.8, seeds=1)))
    assert set(of_one_seed.values()) == {"undecided"}, "none is the best yet"
    lower = column(TEXT, trials=trials("text", {"rope": {"loss@32": 2.0}, "nope": {"loss@32": 2.3}}))
    assert states(lower) == {"rope": "best", "nope": "worse"}, "a lower loss is better"


def test_encodings_at_a_bound_are_not_as_good_but_cannot_be_told_apart() -> None:
    found = column(SHORT, trials=short(rope=1.0, alibi=0.99, nope=0.8))
    assert states(found) == {"rope": "best", "alibi": "cannot tell", "nope": "worse"}
    assert "so nothing is left to differ" in found.cells["alibi"]["why"]
    said = advice([found])
    assert (said.good, said.alike) == (("rope",), ("alibi",))
    assert said.words.endswith("These runs cannot tell ALiBi from the best.")


@pytest.mark.parametrize(("spread", "state"), [(0.0, "not learned"), (0.02, "best")])
def test_no_number_hangs_on_a_thousandth_of_what_counts_as_learned(spread: float, state: str) -> None:
    """Nine tenths of the way are .91 here: .909 is below, and not learned only where the interval is below too."""
    arm = arm_name(OFFSETS, "kerple")
    numbers = [{"accuracy@12": 0.909 + spread * (-1) ** seed, "accuracy@48": 0.9} for seed in range(16)]
    found = column(OFFSETS, 4, [Trial(arm, seed, specific) for seed, specific in enumerate(numbers)])
    assert states(found) == {"kerple": state}


def test_the_advice_is_a_sentence_with_its_condition_or_says_that_there_is_no_answer() -> None:
    nothing = column(SHORT)
    assert (set(nothing.cells), advice([]).words) == (set(COMPARED), "")
    assert "There is no answer: nothing was measured" in advice([nothing]).words
    guessing = column(SHORT, trials=short(rope=0.6, nope=0.5))
    assert "no encoding gets half of the way from guessing to perfect" in advice([guessing]).words

    one = column(SHORT, trials=short(rope=0.9, nope=0.6))
    said, scope = advice([one]), scope_of(SHORT)
    assert (
        said.words
        == f"RoPE: it is better than every other one that was measured, in “majority” ({scope}), over 16 seeds."
    )
    assert (said.good, said.open, said.worse) == (("rope",), (), ("nope",))
    assert sorted(said.order) == sorted(COMPARED)
    alike = f"RoPE has the best mean; None (NoPE) differs from it by less than 0.05 accuracy, in “majority” ({scope}), over 16 seeds."
    assert advice([column(SHORT, trials=short(rope=0.9, nope=0.88))]).words == alike, (
        "the best is not listed beside itself"
    )
    many = dict.fromkeys(("nope", "alibi", "shaw", "fire", "cope"), 0.88)
    told = f"6 of {len(COMPARED)} cannot be told apart: they differ from the best, RoPE, by less than 0.05 accuracy, in “majority”"
    assert told in advice([column(SHORT, trials=short(rope=0.9, **many))]).words
    assert "3 back” at 4 times the trained length (models of 2 layers, width 32" in advice([_far(1.0, 0.2)]).words
    unsure = column(SHORT, trials=[*short(rope=0.9), *short(nope=0.82, noise=0.1)])
    assert advice([unsure]).words.endswith("The seeds do not decide about None (NoPE).")


@pytest.mark.parametrize(
    ("good", "beginning"),
    [
        (("rope",), "RoPE: in"),
        (("rope", "alibi"), "ALiBi and RoPE: in"),
        (("rope", "nope", "alibi", "shaw", "fire"), f"5 of {len(COMPARED)} encodings, the first of the table: in"),
    ],
)
@pytest.mark.parametrize("unsure", [False, True])
def test_the_advice_on_several_needs_names_a_handful_and_says_where_the_runs_leave_others_open(
    good: tuple[str, ...], beginning: str, unsure: bool
) -> None:
    open_one = short(learned=0.82, noise=0.1) if unsure else []
    one = column(SHORT, trials=[*short(**dict.fromkeys(good, 0.9), cope=0.6), *open_one])
    said = advice([one, one])
    assert set(said.good) == set(good)
    assert said.words.startswith(beginning)
    which = "it is" if len(good) == 1 else "each is"
    ends = ". The seeds do not decide about Learned table." if unsure else "; no other one is."
    assert said.words.endswith(f"{which} the best or behind it by less than 0.05 accuracy, over 16 seeds{ends}")


def test_the_least_regret_may_have_no_price_and_a_loss_may_be_no_better_than_guessing() -> None:
    one, other = (
        column(SHORT, trials=[*short(**{best: 0.9}), *short(**{second: 0.82}, noise=0.1)])
        for best, second in (("rope", "alibi"), ("alibi", "rope"))
    )
    said = advice([one, other])
    assert (said.good, set(said.open)) == ((), {"rope", "alibi"})
    assert said.words.startswith("No encoding is surely among the best in all of this. The best are RoPE in")
    assert "; nowhere is it behind the best by as much as counts. Every other one" in said.words
    guessing = column(TEXT, trials=trials("text", {"rope": {"loss@32": 5.0}, "nope": {"loss@32": 6.0}}))
    assert advice([guessing]).words.endswith("no encoding is better than guessing. The best one, RoPE, reaches 5.00.")


def _far(nope: float, rope: float, **others: float) -> Column:
    """A column of 3 back at four times the trained length, where all have learned the task."""
    far = {"nope": nope, "rope": rope, **others}
    return column(
        OFFSETS, 4, trials("offsets", {name: {"accuracy@12": 1.0, "accuracy@48": x} for name, x in far.items()})
    )


def test_where_none_is_good_in_all_needs_the_least_regret_is_named_with_its_price() -> None:
    near, far = column(SHORT, trials=short(rope=0.9, alibi=0.8, nope=0.6)), _far(0.9, 0.2, alibi=0.75)
    said = advice([near, far])
    assert (said.good, said.least_regret, said.order[0]) == ((), "alibi", "alibi")
    assert regrets([near, far], "alibi") == pytest.approx([2.0, 3.0]), "in smallest differences that count"
    assert regrets([near, far], "learned") is None, "it was not measured"
    assert said.words == (
        f"No encoding is among the best in all of this. The best are RoPE in “majority” ({scope_of(SHORT)}); "
        f"None (NoPE) in “3 back” at 4 times the trained length ({scope_of(OFFSETS)}). The least regret: ALiBi; its price is "
        "0.10 accuracy behind RoPE in “majority”; 0.15 accuracy behind None (NoPE) in “3 back” at 4 times the trained length. "
        "Every other one is farther behind in some need, measured by the smallest difference that counts there."
    )
    losses = column(
        TEXT, 1, trials("text", {"rope": {"loss@32": 2.0}, "alibi": {"loss@32": 2.05}, "nope": {"loss@32": 2.4}})
    )
    assert least_regret([near, losses]) == "rope"
    both = column(TEXT, 1, trials("text", {"rope": {"loss@32": 2.0}, "alibi": {"loss@32": 2.03}}))
    told = advice([column(SHORT, trials=short(rope=0.9, alibi=0.88)), both])
    assert (told.good, told.least_regret) == (("rope", "alibi"), None)
    assert (
        "each is the best or behind it by less than 0.05 accuracy, 0.05 nats, over 16 seeds; no other one is."
        in told.words
    )


def test_a_published_number_stands_beside_ours_with_its_sign_against_the_baseline() -> None:
    sinusoidal, alibi, rope = ({"loss@32": near, "loss@64": far} for near, far in ((2.0, 2.4), (2.0, 2.1), (1.9, 2.9)))
    here = trials("text", {"sinusoidal": sinusoidal, "alibi": alibi, "rope": rope})
    longer, press = column(TEXT, 2, here), TEXT.papers[0]

    def beside(one: Column, encoding: str, paper: Paper = press) -> list[tuple[float, str]]:
        return [(row.number, row.sign) for row in beside_papers(one, encoding) if row.paper is paper]

    assert beside(longer, "alibi") == [(18.73, "same sign")]
    assert beside(longer, "rope") == [(21.37, "other sign")], "theirs is better than sinusoids"
    assert beside(longer, "t5_bias") == [(18.79, "undecided here")], "ours was not measured"
    equal = column(TEXT, 2, trials("text", {"sinusoidal": alibi, "alibi": alibi}))
    assert beside(equal, "alibi") == [(18.73, "undecided here")], "ours are not told apart"
    assert beside(column(TEXT, 1, here), "rope") == [(20.07, "no difference there")], (
        "20.05 and 20.07 are no difference"
    )
    assert beside_papers(longer, "sinusoidal") == beside_papers(longer, "cope") == []
    assert beside(column(TEXT, 8, here), "alibi") == []
    (row,) = (row for row in beside_papers(column(TEXT, 4, here), "alibi") if row.paper is press)
    assert (row.baseline, row.times) == (132.41, 5), "their 5 times stands beside our 4"
    veisi = next(paper for paper in TEXT.papers if "fire" in paper.numbers)
    assert veisi.numbers["learned"] == (23.53,), "it ends at the trained length"
    assert [number for number, _ in beside(column(TEXT, 1, here), "learned", veisi)] == [23.53]
    assert beside(longer, "learned", veisi) == []
    far = {
        name: {"accuracy@12": 1.0, "accuracy@24": accuracy} for name, accuracy in (("nope", 0.4), ("sinusoidal", 0.7))
    }
    (row,) = beside_papers(column(OFFSETS, 2, trials("offsets", far)), "nope")
    assert (row.number, row.sign) == (0.69, "other sign"), "theirs is higher, and so better"


def test_the_trials_are_those_on_the_confirmatory_seeds_that_came_with_this_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = (
        [replace(trial, seed=trial.seed + first) for trial in short(rope=accuracy, nope=0.8)]
        for first, accuracy in ((0, 0.6), (SETS[0], 0.9))
    )
    monkeypatch.setattr(table, "shipped_trials", lambda slug: old)
    assert states(column(SHORT)) == {}, "those of other seeds measured other columns"
    monkeypatch.setattr(table, "shipped_trials", lambda slug: old + new)
    found = column(SHORT).cells
    rope, nope = ((cell["number"], cell["seeds"]) for cell in (found["rope"], found["nope"]))
    assert (rope, nope) == ((pytest.approx(0.9), 16), (pytest.approx(0.8), 16))


def test_every_encoding_but_a_design_is_compared_and_has_a_time_that_came_with_this_version() -> None:
    assert set(ENCODINGS) - set(COMPARED) == {DESIGN}
    costs, times = costs_of_encodings(), shipped_times()
    assert list(costs) == list(COMPARED)
    assert times.machine["processor"]
    assert times.machine["date"] >= "2026-11-28"
    for name, cost in costs.items():
        assert cost.timing is not None, f"{name}: python -m tools.costs encodings measures it"
        assert 0 < cost.timing["low"] <= cost.timing["ratio"] <= cost.timing["high"]


def test_a_row_for_each_encoding_of_each_column() -> None:
    frame = evidence_frame([column(SHORT, trials=short(rope=0.9, nope=0.6)), column(OFFSETS, 4, [])])
    assert (list(frame), len(frame)) == (EVIDENCE, 2 * len(COMPARED))
    first = frame[frame["encoding"] == "nope"].iloc[0]
    assert (first["state"], first["number"], first["seeds"]) == ("worse", pytest.approx(0.6), 16)
    assert frame["low"].isna().sum() == 2 * len(COMPARED) - 2
    assert isnan(frame.iloc[-1]["number"])
    assert evidence_frame([]).empty
