"""The table of evidence: which arms count, how a cell is computed, and that nothing is known without trials."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from engine.encodings import ENCODINGS
from engine.experiments import choice
from engine.experiments.choice import PROPERTIES, arm_of, cell, evidence_table
from engine.experiments.evidence.shipped import shipped_reports, shipped_trials
from engine.experiments.evidence.store import FORMAT, folder_of, latest_trials
from engine.experiments.issues import ISSUES
from engine.experiments.trial import Trial

LONGER, _, ABSOLUTE, SHORTCUT, _ = PROPERTIES


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))


@pytest.fixture
def nothing_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "shipped_trials", lambda slug: [])


def keep(slug: str, *trials: Trial, created: int = 1) -> None:
    row = {
        "format": FORMAT, "created": 0.0, "seeds": [0], "extended": False, "seconds": 1.0, "verdict": "shown", "weighed": [],
        "trials": [asdict(trial) for trial in trials],
    }  # fmt: skip
    folder_of(slug).mkdir(parents=True, exist_ok=True)
    (folder_of(slug) / f"{created}.json").write_text(json.dumps(row))


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
            assert found["state"] == "not measured"
            assert found["value"] is None
            assert ("issue" in found["query"]) == bool(found["arm"]) or found["query"]["pos_encoding"] == row[
                "encoding"
            ]


@pytest.mark.usefixtures("nothing_shipped")
def test_a_cell_is_the_share_above_guessing_that_is_kept() -> None:
    trials = [
        Trial("RoPE", seed, {"accuracy@12": 1.0, "accuracy@48": 0.1 + kept})
        for seed, kept in enumerate((0.72, 0.81, 0.9))
    ]
    keep("longer-sequences", *trials)
    found = cell("rope", LONGER, latest_trials(LONGER.slug))
    assert found["chance"] == pytest.approx(0.1)
    assert found["value"] == pytest.approx((0.8 + 0.9 + 1.0) / 3)
    assert found["ci"] is not None
    assert found["ci"][0] < found["value"] < found["ci"][1]
    assert (found["state"], found["seeds"], found["origin"]) == ("supported", 3, "this machine")


@pytest.mark.usefixtures("nothing_shipped")
@pytest.mark.parametrize(
    ("numbers", "state"),
    [
        ({"accuracy@12": 1.0}, "no row"),
        ({"accuracy@12": 0.3, "accuracy@48": 0.28}, "not learned"),
        ({"accuracy@12": 1.0, "accuracy@48": 0.2}, "against"),
    ],
)
def test_what_a_cell_says_follows_from_the_numbers(numbers: dict[str, float], state: str) -> None:
    keep("longer-sequences", *(Trial("learned table", seed, numbers) for seed in range(4)))
    found = cell("learned", LONGER, latest_trials(LONGER.slug))
    assert (found["state"], found["seeds"]) == (state, 4)


@pytest.mark.usefixtures("nothing_shipped")
def test_one_seed_decides_nothing() -> None:
    keep("no-encoding", Trial("RoPE", 0, {"accuracy": 1.0}))
    found = cell("rope", ABSOLUTE, latest_trials(ABSOLUTE.slug))
    assert (found["state"], found["value"], found["ci"]) == ("open", 1.0, None)


def test_this_machines_trials_come_first_and_the_newest_of_a_seed_counts() -> None:
    keep("position-shortcut", Trial("RoPE, ρ .9", 0, {"decorrelated_accuracy": 0.25}), created=1)
    keep("position-shortcut", Trial("RoPE, ρ .9", 0, {"decorrelated_accuracy": 1.0}), created=2)
    assert [trial.numbers for trial in latest_trials("position-shortcut")] == [{"decorrelated_accuracy": 1.0}]
    found = cell("rope", SHORTCUT, latest_trials(SHORTCUT.slug))
    assert (found["value"], found["origin"], found["seeds"]) == (1.0, "this machine", 1)


def test_shipped_evidence_is_what_the_documents_say() -> None:
    told = [trial for trial in shipped_trials("no-encoding") if trial.arm == "sinusoidal"]
    assert len(told) == sum(len(found.seeds) for found in shipped_reports(ISSUES["no-encoding"]))
    found = cell("sinusoidal", ABSOLUTE, ())
    assert (found["origin"], found["seeds"]) == ("this version", len(told))
    assert found["number"] == pytest.approx(sum(trial.numbers["accuracy"] for trial in told) / len(told))
