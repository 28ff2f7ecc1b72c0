import itertools
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from engine.analysis.measurements import MEASUREMENTS
from engine.analysis.measurements.held_out import exposure_name, exposures
from engine.config.run_config import RunConfig, changes_between
from engine.estimate.layout import shapes
from engine.estimate.matching import n_parameters
from engine.estimate.prediction import predict
from engine.experiments.evidence.shipped import shipped_result, shown_report
from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.finding import Finding
from engine.experiments.issues import COSTS, ISSUES, RENAMED
from engine.experiments.issues.encoding.learned_table import MOSTLY_SHORT, OFTEN, RARELY
from engine.experiments.issues.encoding.no_encoding import bag_bound
from engine.experiments.issues.issue import GROUPS, HEADINGS, Issue, Publication, read_issue
from engine.experiments.key_figure import KeyFigure, Row
from engine.experiments.question import ANSWERS
from engine.foundation.glossary import TERMS
from engine.runs.events import Finished
from engine.settings.architectures import ARCHITECTURES
from engine.training.train import train

EVERY = pytest.mark.parametrize("issue", ISSUES.values(), ids=list(ISSUES))
MAX_WORDS, MAX_WORDS_A_SENTENCE = 60, 15  # on the first screen, and in a sentence there
MAX_TITLE_LETTERS = 60
MAX_RIGHT_SHARE = 0.6
MEASURED = {
    "decorrelated_accuracy": "decorrelated", "unchanged_by_content": "shuffle_meters", "unchanged_by_positions": "shuffle_meters",
    OFTEN: "accuracy_by_position", RARELY: "accuracy_by_position", "table_structure": "table_structure",
    "largest_score": "attention_scores", "attention_entropy": "attention_scores",
    "first_token_weight": "attention_sinks", "even_first_weight": "attention_sinks", "right_when_asked": "attention_sinks",
    "first_token_weight_asked": "attention_sinks",
}  # fmt: skip


@EVERY
def test_every_arm_is_a_run_of_its_own_and_a_fault_has_a_control_and_something_that_mends_it(issue: Issue) -> None:
    configs = [issue.config(arm, seed=3) for arm in issue.arms]
    free = [issue.config(arm, seed=3) for arm in issue.arms if arm.tuned]  # an own rate can be the best one
    assert len(set(free)) == len(free)
    for arm, config in zip(issue.arms, configs, strict=True):
        assert config.seed == 3
        assert predict(config).parameters > 0, arm.name
        assert set(arm.measurements) <= set(MEASUREMENTS)
        if arm.role in ("fault", "remedy") and arm.settings:
            assert issue.changes(arm), arm.name
    assert len({arm.name for arm in issue.arms}) == len(issue.arms)
    roles = {arm.role for arm in issue.arms_of()}
    if "fault" in roles:
        assert "control" in roles
        assert "remedy" in {claim.about for claim in issue.claims_of(issue.arms_of())}
    else:
        assert roles == {"comparison"}


@EVERY
def test_claims_ask_for_numbers_that_their_arms_give_and_are_paired_by_seed(issue: Issue) -> None:
    rng = np.random.default_rng(0)
    numbers: dict[tuple[str, str], np.ndarray] = {}

    def whole(arm: str, metric: str) -> np.ndarray:
        return numbers.setdefault((arm, metric), rng.uniform(0.1, 0.9, 4))

    def without_the_second(arm: str, metric: str) -> np.ndarray:
        values = whole(arm, metric).copy()
        values[1] = np.nan
        return values

    for claim in issue.claims:
        full, partial = claim.effect(whole), claim.effect(without_the_second)
        assert full.shape == (4,)
        assert np.isfinite(full).all()
        np.testing.assert_allclose(np.delete(partial, 1), np.delete(full, 1))
        assert np.isnan(partial[1])
        assert claim.numbers
        assert claim.smallest_effect > 0
    assert issue.claims[0] in issue.claims_of(issue.arms_of())
    assert issue.claims[0].about == "issue"
    assert len({claim.id for claim in issue.claims}) == len(issue.claims)
    points = [(arm.name, metric) for arm in issue.arms for _, metric in arm.points]
    shown = [cell for table in issue.published for row in table.ours.values() for cell in row]
    requested = [number for claim in issue.claims for number in claim.numbers]
    for name, metric in (*requested, *points, *shown):
        gives_the_number(issue, name, metric)


def gives_the_number(issue: Issue, name: str, metric: str) -> None:
    """Check that an arm is tested at the length that a number names, and has the measurement that gives it."""
    arm = issue.arm(name)
    config = issue.config(arm)
    if metric.startswith("position_probe."):
        assert "position_probe" in arm.measurements
        assert int(metric.split(".")[1]) <= config.n_layers
    elif "cosine" in metric and "@" in metric:
        assert "neighbour_cosine" in arm.measurements
    elif "@" in metric:
        assert int(metric.split("@")[1]) in config.test_lengths
    elif metric in MEASURED:
        assert MEASURED[metric] in arm.measurements
    elif "token_" in metric:
        assert "token_collapse" in arm.measurements
    elif metric.startswith("first_grad"):
        assert "first_gradients" in arm.measurements


@EVERY
def test_an_issue_is_complete_and_what_is_read_first_is_short(issue: Issue) -> None:
    assert ISSUES[issue.slug] is issue
    assert issue.group in GROUPS
    assert issue.summary
    assert issue.mechanism.count("$") % 2 == 0 < issue.mechanism.count("$")
    assert issue.sources
    assert (len(issue.remedies), all(issue.remedies)) == (3, True)
    for table in issue.published:
        assert all(len(row) == len(table.columns) for row in table.rows.values())
        assert {name: len(row) for name, row in table.ours.items()} == {name: len(table.columns) for name in table.rows}
    figure = issue.key_figure
    for row in figure.rows:
        assert row.arm in {arm.name for arm in issue.arms_of()}
        if (measured := shown_report(issue)) is not None:  # an issue that is being added has no evidence yet
            numbers = [trial.numbers for trial in measured.trials if trial.arm == row.arm]
            assert any(row.metric in found for found in numbers), f"{row.label}: no {row.metric}"
    words = " ".join([issue.title, figure.sample, figure.question, *figure.answers, "Your guess"]).split()
    assert len(words) <= MAX_WORDS
    assert len(set(figure.answers)) == len(ANSWERS)
    assert figure.question.endswith("?")
    assert figure.claim in {claim.id for claim in issue.claims_of(issue.arms_of())}


@EVERY
def test_remedy_and_reason_rest_on_claims_that_hold_or_say_may(issue: Issue) -> None:
    figure, report = issue.key_figure, shown_report(issue)
    if report is None:  # an issue that is being added has no evidence yet
        return
    found = {row.claim.id: row.finding for row in report.claims}
    for sentence, claims in ((figure.remedy, figure.remedy_claims), (figure.because, figure.because_claims)):
        assert {name: found[name] for name in claims} == dict.fromkeys(claims, Finding.HOLDS)
        assert claims or not sentence or re.search(r"\bmay\b", sentence), sentence


@EVERY
def test_sentences_of_the_first_screen_are_short(issue: Issue) -> None:
    figure = issue.key_figure
    assert len(issue.title) <= MAX_TITLE_LETTERS
    for text in (issue.title, figure.question, f"Because {figure.because}", figure.remedy):
        for sentence in re.split(r"(?<=[.?!]) ", text):
            assert len(sentence.split()) <= MAX_WORDS_A_SENTENCE, sentence


def test_an_earlier_slug_is_that_of_no_issue_and_leads_to_one() -> None:
    assert {*RENAMED, *COSTS}.isdisjoint(ISSUES)
    assert set(RENAMED.values()) <= ISSUES.keys()


def test_no_constant_answer_wins() -> None:
    measured = [issue for issue in ISSUES.values() if shown_report(issue) is not None]
    results = (shipped_result(issue, issue.key_figure) for issue in measured)
    right = Counter(result.finding.answer for result in results if result)
    assert sum(right.values()) >= len(measured) > 0
    assert max(right.values()) <= MAX_RIGHT_SHARE * sum(right.values()), right


def test_a_key_comes_before_or_after_a_query_in_every_text() -> None:
    texts = [issue.summary + issue.mechanism + " ".join((*issue.remedies, *issue.notes)) for issue in ISSUES.values()]
    texts += [term.text for term in TERMS.values()]
    noun = r"\b(query|key|position|token)"
    for text in texts:
        assert not re.search(rf"\bbehind\b[^.]*{noun}|{noun}\b[^.]*\bbehind\b", text)


def config_of(slug: str, name: str) -> RunConfig:
    """The config of an arm before its rate is chosen."""
    return ISSUES[slug].untuned().config(ISSUES[slug].arm(name))


@pytest.mark.parametrize(
    ("slug", "fault", "control", "what"),
    [
        ("what-depth-brings", "1 hop, 2 layers", "1 hop, 1 layer", {"n_layers"}),
        ("what-depth-brings", "2 hops, 3 layers", "2 hops, 2 layers", {"n_layers"}),
        ("longer-sequences", "1 hop, sinusoidal, 6 layers", "1 hop, sinusoidal, 2 layers", {"n_layers"}),
        ("overfitting-depth", "6 layers, 256 sequences", "1 layer, 256 sequences", {"n_layers"}),
        ("missing-skips", "8 layers, no skips", "8 layers, skips", {"skips"}),
        ("missing-skips", "2 layers, no skips", "2 layers, skips", {"skips"}),
        ("missing-skips", "2 layers, no skips, 240 steps", "2 layers, no skips", {"steps"}),
        ("missing-skips", "16 layers, no skips", "16 layers, skips", {"skips"}),
        ("missing-skips", "16 layers, no skips, no LayerNorm", "16 layers, no skips", {"norm"}),
        ("missing-skips", "16 layers, skips, no LayerNorm", "16 layers, skips", {"norm"}),
        (
            "missing-skips",
            "16 layers, small branches, no LayerNorm",
            "16 layers, skips, no LayerNorm",
            {"residual_scale"},
        ),
        ("tokens-alike", "no skips", "skips", {"skips"}),
        ("tokens-alike", "skips, no MLP", "skips", {"mlp"}),
        ("tokens-alike", "no skips, no MLP", "no skips", {"mlp"}),
        ("no-normalization", "SGD, no norm", "SGD, pre-LN", {"norm"}),
        ("no-normalization", "AdamW, no norm", "AdamW, pre-LN", {"norm"}),
        ("warm-up-and-qk-norm", "rate .08, plain", "rate .08, QK-norm", {"qk_norm"}),
        ("warm-up-and-qk-norm", "8 layers, post-LN", "8 layers, post-LN, warm-up", {"warmup_steps"}),
        ("warm-up-and-qk-norm", "24 layers, post-LN, before training", "24 layers, pre-LN, before training", {"norm"}),
        ("shared-layers", "one block at 4 depths", "own block at each depth", {"share_layers"}),
    ],
)
def test_one_thing_changes(slug: str, fault: str, control: str, what: set[str]) -> None:
    a, b = config_of(slug, fault).flat(), config_of(slug, control).flat()
    assert {name for name in a if a[name] != b[name]} == what


def test_models_that_are_compared_have_as_many_parameters() -> None:
    issue = ISSUES["data-hunger"]
    plain = [issue.config(arm) for arm in issue.arms if "pretrain_steps" not in arm.settings]
    plain = [config for config in plain if config.pos_encoding == issue.base["pos_encoding"]]
    for config in plain:
        same_task = [n_parameters(other) for other in plain if other.task == config.task and other.family == "decoder"]
        assert n_parameters(config) == pytest.approx(same_task[0], rel=0.03), config.family
    assert {config.family for config in plain} == {"decoder", "gru"}


def test_the_gru_beside_the_transformer_has_as_many_parameters() -> None:
    gru, transformer = (
        n_parameters(config_of("shortcuts", name)) for name in ("GRU, cue says nothing", "cue says nothing")
    )
    assert gru == pytest.approx(transformer, rel=0.03)


def test_heads_of_one_line_have_equally_many_parameters() -> None:
    issue = ISSUES["heads"]
    for line in {arm.line for arm in issue.arms if arm.line}:
        assert len({n_parameters(issue.config(arm)) for arm in issue.arms if arm.line == line}) == 1


def test_the_wide_shared_block_has_as_many_parameters_as_the_own_blocks() -> None:
    def counts(*names: str) -> tuple[int, ...]:
        return tuple(n_parameters(config_of("shared-layers", name)) for name in names)

    wide, shared = "one wide block at 4 depths", "one block at 4 depths"
    markov = counts("own block at each depth", wide, shared)
    hop = counts(*(f"one hop, {name}" for name in ("own blocks", wide, shared, "one block, once")))
    assert markov == (9382, 9510, 2710), "the notes of the issue say so"
    assert hop == (9126, 8998, 2454, 2454), "the notes of the issue say so"
    for arm, as_many, *_ in (markov, hop):
        assert as_many == pytest.approx(arm, rel=0.02)


def test_what_stands_in_for_a_layer_has_its_parameters_or_takes_its_operations() -> None:
    names = ("1 hop, 2 layers", "1 hop, one wide layer", "1 hop, one layer, twice the steps")
    deep, wide, longer = (config_of("what-depth-brings", name) for name in names)
    assert (wide.n_layers, longer.n_layers) == (1, 1)
    assert (n_parameters(deep), n_parameters(wide)) == (68104, 68144), "the notes of the issue say so"
    assert longer.replace(steps=deep.steps) == config_of("what-depth-brings", "1 hop, 1 layer")
    operations = [predict(config).flops_per_step * config.steps for config in (deep, longer)]
    assert operations[1] == pytest.approx(operations[0], rel=0.01)


def test_every_network_sees_the_whole_sequence_it_is_asked_about() -> None:
    issue = ISSUES["data-hunger"]
    for config in map(issue.config, issue.arms):
        reach = ARCHITECTURES[config.family].sees(config)
        assert reach is None or reach >= shapes(config).length


def test_windows_side_by_side_and_as_many_are_equally_many() -> None:
    config = config_of("overfitting-depth", "windows side by side")
    tokens, length = config.value("text_tokens"), shapes(config).length
    few = config_of("overfitting-depth", "windows overlap, as many")
    assert few.dataset_size == (tokens - length) // length


def test_windows_hold_hardly_an_unknown_character() -> None:
    shares = []
    for seed in (910, 911):
        config = config_of("overfitting-depth", "windows side by side").replace(steps=1, seed=seed)
        last = list(train(config))[-1]
        assert isinstance(last, Finished)
        shares.append(last.metrics["unknown_share"])
    assert max(shares) <= 0.01


def test_positions_are_visited_as_often_as_the_bands_say() -> None:
    config = config_of("learned-table", "learned, mostly short")
    assert {OFTEN, RARELY} <= {exposure_name(times) for times in exposures(config)}
    assert MOSTLY_SHORT.items() <= config.flat().items()


@pytest.mark.parametrize(("length", "symbols"), [(1, 4), (3, 2), (4, 3), (5, 4)])
def test_the_bag_bound_by_counting_all_sequences(length: int, symbols: int) -> None:
    commonest = [max(Counter(word).values()) for word in itertools.product(range(symbols), repeat=length)]
    assert bag_bound(length, symbols) == pytest.approx(fmean(commonest) / length)


def test_a_table_without_rows_is_told_from_a_trial_that_is_missing() -> None:
    numbers = {"accuracy@12": [1.0, 1.0, np.nan], "accuracy@18": [np.nan, 0.4, np.nan]}
    effect = ISSUES["longer-sequences"].claim("learned-table").effect(lambda arm, metric: np.array(numbers[metric]))
    np.testing.assert_array_equal(effect, [1.0, 0.0, np.nan])


def test_every_claim_about_longer_sequences_asks_that_each_of_its_models_has_learned() -> None:
    issue = ISSUES["longer-sequences"]
    about_longer = 0
    for claim in issue.claims:
        at = [(arm, metric) for arm, metric in claim.effect_numbers if re.search(r"(accuracy|loss)@", metric)]
        longer = {arm for arm, metric in at if int(metric.split("@")[1]) > issue.config(issue.arm(arm)).seq_len}
        at_most = {
            arm for arm, metric, _ in claim.learned if int(metric.split("@")[1]) <= issue.config(issue.arm(arm)).seq_len
        }
        assert longer <= at_most, claim.id
        about_longer += bool(longer)
    assert about_longer >= 9


@pytest.mark.parametrize(
    "issue", [one for one in ISSUES.values() if one.group == "encoding"], ids=lambda issue: issue.slug
)
def test_effects_of_one_unit_count_from_one_size(issue: Issue) -> None:
    sizes: dict[str, set[float]] = {}
    for claim in issue.claims:
        sizes.setdefault(claim.unit, set()).add(claim.smallest_effect)
    assert {unit: found for unit, found in sizes.items() if len(found) > 1} == {}


TEXT = Path(__file__).with_name("one_more.md").read_text("utf-8")
FIRST, SECOND = (Claim(name, difference("a", "b", "loss"), 0.1) for name in ("first", "second"))


def issue_of(folder: Path, text: str, *claims: Claim) -> Issue:
    (folder / "depth").mkdir(exist_ok=True)
    module = folder / "depth" / "one_more.py"
    module.with_suffix(".md").write_text(text)
    return read_issue(str(module), base={"steps": 1}, arms=(), claims=claims, x_label="Layers")


def test_each_heading_gives_its_part(tmp_path: Path) -> None:
    issue = issue_of(tmp_path, TEXT, FIRST, SECOND)
    assert (issue.slug, issue.group, issue.base, issue.x_label) == ("one-more", "depth", {"steps": 1}, "Layers")
    assert (issue.title, issue.summary) == ("A title", "Two lines of a summary.")
    assert issue.mechanism == "\nA formula $x_1$:\n$$x = 1$$\n\n- and a list\n\n"
    assert (issue.remedies, issue.notes) == (("A remedy over two lines.", "Another."), ())
    assert issue.sources == (Publication("Somebody 2020, A paper (section 3)", "https://example.org/a"),)
    assert issue.key_figure == KeyFigure(
        claim="first", sample="reads 1", question="More over two lines?", quantity="Loss", subject="the loss", change="With it",
        rows=(Row("before", "b", "loss"), Row("after", "a", "loss")), remedy="Do it.",
    )  # fmt: skip
    (table,) = issue.published
    assert (table.rows, table.ours) == ({"a": (0.5,)}, {"a": (("a", "loss"),)})
    words = [(claim.id, claim.about, claim.unit, claim.sentence, claim.condition) for claim in issue.claims]
    assert words == [
        ("first", "issue", "nats (a: b)", "It is more.", "at 8 layers"), ("second", "condition", "nats", "It is less.", ""),
    ]  # fmt: skip


def test_claims_that_are_not_worded_one_by_one_are_refused(tmp_path: Path) -> None:
    for others in ((FIRST,), (SECOND, FIRST), (FIRST, SECOND, replace(FIRST, id="third"))):
        with pytest.raises(ValueError, match="must word the claims"):
            issue_of(tmp_path, TEXT, *others)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (TEXT.replace("# A title\n", "", 1), "one_more.md must have TOML between lines of +++, a title"),
        (TEXT.removeprefix("+++"), "TOML between lines of +++"),
        (TEXT.replace("## Sources", "## Books"), ", ".join(HEADINGS)),
        (TEXT.replace("## Remedies", "Words"), "and these headings"),
        (TEXT.replace("[Somebody", "Somebody"), "the source “Somebody 2020"),
        (TEXT.replace(" in `nats`", ""), "each with its unit"),
        (TEXT.replace("remedy = ", "rmedy = "), "one_more.md: a KeyFigure has no rmedy."),
    ],
)
def test_a_file_of_another_form_is_refused_in_one_sentence(tmp_path: Path, wrong: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        issue_of(tmp_path, wrong, FIRST, SECOND)


@EVERY
def test_in_the_figure_a_fault_is_a_fault_and_a_control_a_control_at_any_depth_and_training_time(issue: Issue) -> None:
    """Unless depth or time is what the fault itself changes."""
    beside = {"n_layers", "steps", "warmup_steps", "learning_rate", "seed"}
    arms = [issue.arm(name) for name in dict.fromkeys(row.arm for row in issue.key_figure.rows)]
    of_role = {role: [arm for arm in arms if arm.role == role] for role in ("fault", "control")}
    for one in (arm for role in of_role.values() for arm in role):
        against = of_role["control" if one.role == "fault" else "fault"]
        subject = {name for other in against for name in differing(issue, one, other)}
        alike = [arm for arm in arms if differing(issue, one, arm) <= beside - subject]
        assert {arm.name: arm.role for arm in alike} == {arm.name: one.role for arm in alike}


def differing(issue: Issue, one: Arm, other: Arm) -> set[str]:
    return {row.name for row, _, _ in changes_between(issue.config(one), issue.config(other))}
