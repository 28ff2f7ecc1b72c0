"""The golden record holds: the same runs, evidence, links and stored runs as before the engine was rearranged.

Bit for bit where torch and the processor are those of the record; elsewhere to within rounding.
"""

import json
from typing import Any

import pytest

from tests.golden.record import FILE, config_of, evidence, machine, run_of

RECORD: dict[str, Any] = json.loads(FILE.read_text())
SAME_MACHINE = RECORD["machine"] == machine()
CLOSE = {"rel": 2e-2, "abs": 2e-2}
"""Twelve steps amplify the rounding of other kernels."""


@pytest.mark.parametrize("name", RECORD["runs"])
def test_a_run_gives_the_recorded_events(name: str) -> None:
    before = RECORD["runs"][name]
    now = run_of(before["settings"])
    assert now["kinds"] == before["kinds"]
    assert now["parameters"] == before["parameters"]
    assert now["saved"] == before["saved"]
    if SAME_MACHINE:
        assert now["losses"] == before["losses"]
        assert now["metrics"] == before["metrics"]
        assert now["fingerprint"] == before["fingerprint"]
    else:
        assert now["losses"] == pytest.approx(before["losses"], **CLOSE)
        assert now["metrics"].keys() == before["metrics"].keys()


def test_an_issue_gives_the_recorded_evidence() -> None:
    now = evidence()
    assert [(t["arm"], t["seed"], t["outcome"]) for t in now] == [
        (t["arm"], t["seed"], t["outcome"]) for t in RECORD["evidence"]
    ]
    for trial, before in zip(now, RECORD["evidence"], strict=True):
        assert trial["numbers"].keys() == before["numbers"].keys()
        if SAME_MACHINE:
            assert trial["numbers"] == before["numbers"]


def test_links_mean_what_they_meant() -> None:
    assert len(RECORD["links"]) >= 99
    for link, before in RECORD["links"].items():
        assert config_of(link) == before, link
