"""The table of evidence: which arms count, how a cell is computed, and that nothing is known without trials."""

import pytest

from engine.encodings import ENCODINGS
from engine.experiments import choice
from engine.experiments.choice import PROPERTIES, arm_of, cell, evidence_table
from engine.experiments.evidence.shipped import shipped_reports, shipped_trials
from engine.experiments.issues import ISSUES
from engine.experiments.trial import Trial

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
