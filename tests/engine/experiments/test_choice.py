"""The table of evidence: which arms count, how a cell is computed; evidence, reports and published numbers as data frames."""

from math import isnan

import pytest

from engine.encodings import ENCODINGS
from engine.experiments import choice
from engine.experiments.choice import PROPERTIES, arm_of, cell, evidence_table
from engine.experiments.evidence.shipped import shipped_reports, shipped_trials
from engine.experiments.experiment import Claim, above
from engine.experiments.frames import EVIDENCE, effects_frame, evidence_frame, published_frame
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Published
from engine.experiments.report import report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue, fake_report

LONGER, _, ABSOLUTE, SHORTCUT, _ = PROPERTIES
pytestmark = pytest.mark.usefixtures("own_data_folder")


@pytest.fixture
def nothing_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "shipped_trials", lambda slug: [])


def test_the_arm_of_an_encoding_differs_from_the_condition_in_the_encoding_alone() -> None:
    issue = ISSUES["longer-sequences"]
    condition = issue.config(issue.arm("sinusoidal"))
    found = {name: arm.name for name in ENCODINGS if (arm := arm_of(issue, condition, name))}
    assert found["rope"] == "RoPE", "not the interpolated one"
    assert found["sinusoidal"] == "sinusoidal", "not the one trained to 48"
    assert found["learned"] == "learned table"
    shortcut = ISSUES["position-shortcut"]
    learned = shortcut.config(shortcut.arm("learned, ρ .9"))
    assert arm_of(shortcut, learned, "learned") is shortcut.arm("learned, ρ .9")
    assert arm_of(shortcut, learned, "nope") is None


@pytest.mark.usefixtures("nothing_shipped")
def test_without_trials_nothing_is_known_and_every_cell_leads_somewhere() -> None:
    for row in evidence_table():
        for found in row["cells"]:
            assert (found["state"], found["value"]) == ("not measured", None)
            query = found["query"]
            assert ("issue" in query) == bool(found["arm"]) or query["pos_encoding"] == row["encoding"]


@pytest.mark.usefixtures("nothing_shipped")
@pytest.mark.parametrize(
    ("numbers", "state"),
    [
        ([{"accuracy@12": 1.0}] * 4, "no row"),
        ([{"accuracy@12": 0.3, "accuracy@48": 0.28}] * 4, "not learned"),
        ([{"accuracy@12": 1.0, "accuracy@48": 0.2}] * 4, "against"),
        ([{"accuracy@12": 1.0, "accuracy@48": 1.0}], "open"),  # one seed decides nothing
        ([{"accuracy@12": 1.0, "accuracy@48": 0.1 + kept} for kept in (0.72, 0.81, 0.9)], "supported"),
    ],
)
def test_a_cell_is_the_share_above_guessing_that_is_kept(numbers: list[dict[str, float]], state: str) -> None:
    found = cell("rope", LONGER, [Trial("RoPE", seed, row) for seed, row in enumerate(numbers)])
    assert (found["state"], found["seeds"], found["origin"]) == (state, len(numbers), "this machine")
    assert found["chance"] == pytest.approx(0.1)
    if state == "open":
        assert (found["value"], found["ci"]) == (1.0, None)
    elif state == "supported":
        assert found["value"] == pytest.approx((0.8 + 0.9 + 1.0) / 3)
        assert found["ci"] is not None
        assert found["ci"][0] < found["value"] < found["ci"][1]


def test_this_machines_trials_come_first_and_else_the_shipped_ones_count() -> None:
    found = cell("rope", SHORTCUT, [Trial("RoPE, ρ .9", 0, {"decorrelated_accuracy": 1.0})])
    assert (found["value"], found["origin"], found["seeds"]) == (1.0, "this machine", 1)
    told = [trial for trial in shipped_trials("no-encoding") if trial.arm == "sinusoidal"]
    assert len(told) == sum(len(found.seeds) for found in shipped_reports(ISSUES["no-encoding"]))
    found = cell("sinusoidal", ABSOLUTE, ())
    assert (found["origin"], found["seeds"]) == ("this version", len(told))
    assert found["number"] == pytest.approx(sum(trial.numbers["accuracy"] for trial in told) / len(told))


def test_a_claim_is_a_row_with_its_finding_effect_and_interval() -> None:
    frame = effects_frame(fake_report(short=0.9, noise=1.0))
    assert list(frame["claim"]) == [claim.sentence for claim in fake_issue().claims_of()]
    first = frame.iloc[0]
    assert (first["before"], first["after"], first["effect"]) == pytest.approx((0.1, 0.9 + 0.5, 1.3))
    assert frame["before"][1] == 1, "a level known beforehand"
    assert first["low"] <= first["effect"] <= first["high"]
    assert (first["p"], first["p (Holm)"]) == pytest.approx((2 / 2**6, 2 / 2**6)), "the other claim has no p"
    assert 0 < first["found"] < first["high"] - first["low"]
    assert (first["finding"], first["seeds"], first["unit"], first["smallest effect"]) == ("Holds", 6, "nats", 0.01)


def test_cells_are_empty_where_there_is_no_such_number() -> None:
    never = Claim("never", above("long", "nothing"), 1.0, sentence="Nothing has this.")
    ratio = Claim(
        "ratio", lambda values: values("short", "loss") / values("long", "loss"), 1.0, sentence="Nine to one."
    )
    issue = fake_issue(claims=(*fake_issue().claims, never, ratio))
    frame = effects_frame(report(issue, fake_report(range(1), short=0.9).trials, range(1)))
    assert frame["effect"].isna().tolist() == [False, False, True, False]
    assert frame["after"].isna().tolist() == frame["before"].isna().tolist() == [False, False, True, True]
    assert frame["effect"][3] == pytest.approx(9), "the ratio is no difference of two numbers"
    assert set(frame["finding"]) == {"Undecided (needs at least six seeds)"}
    alike = effects_frame(fake_report(noise=0.0))
    assert list(alike["finding"]) == ["Holds", "Holds"]
    for found in (frame, alike):
        assert found[["low", "high", "p", "p (Holm)", "found"]].isna().all(axis=None)


def test_our_means_stand_beside_published_numbers() -> None:
    published = Published(
        "Nobody 2000", "Perplexity.", ("512", "1012"), {"sinusoidal": (20.05, 43.54), "ALiBi": (19.73, 18.73)},
        ours={"sinusoidal": (("long", "loss"),)},
    )  # fmt: skip
    frame = published_frame(published, [Trial("long", 0, {"loss": 1.0}), Trial("long", 1, {"loss": 2.0})])
    assert list(frame.columns) == ["512", "512, ours", "1012"]
    assert frame.loc["sinusoidal"].tolist() == [20.05, 1.5, 43.54]
    assert frame.loc["ALiBi", "1012"] == 18.73
    assert frame["512, ours"].isna().tolist() == [False, True]


def test_a_row_for_each_encoding_and_property() -> None:
    evidence = {row["encoding"]: row["cells"] for row in evidence_table()}
    frame = evidence_frame(evidence)
    assert list(frame) == EVIDENCE
    assert len(frame) == len(ENCODINGS) * len(PROPERTIES)
    cells = [found for of_one in evidence.values() for found in of_one]
    assert {found["state"] for found in cells} >= {"supported", "not measured", "no row"}
    for row, found in zip(frame.to_dict("records"), cells, strict=True):
        assert (row["property"], row["state"], row["seeds"]) == (found["quality"], found["state"], found["seeds"])
        for name, number in (("value", found["value"]), ("number", found["number"]), ("chance", found["chance"])):
            assert isnan(row[name]) if number is None else row[name] == number
        assert isnan(row["low"]) if found["ci"] is None else (row["low"], row["high"]) == found["ci"]
    assert evidence_frame({}).empty
