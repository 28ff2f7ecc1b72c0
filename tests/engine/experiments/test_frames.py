"""Reports and published numbers as data frames: the numbers, and empty cells where there are none."""

from math import isnan

import pytest

from engine.encodings import ENCODINGS
from engine.experiments.choice import PROPERTIES, evidence_table
from engine.experiments.experiment import Claim, above
from engine.experiments.frames import EVIDENCE, effects_frame, evidence_frame, published_frame
from engine.experiments.issues.issue import Published
from engine.experiments.report import report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue


def trials_of(seeds: int, spread: float = 0.0) -> list[Trial]:
    """The short arm ends at .9 and rises with the seed, the long one at .1."""
    return [
        trial
        for seed in range(seeds)
        for trial in (Trial("short", seed, {"loss": 0.9 + spread * seed}), Trial("long", seed, {"loss": 0.1}))
    ]


def test_a_claim_is_a_row_with_its_finding_effect_and_interval() -> None:
    issue = fake_issue(seeds=6)
    frame = effects_frame(report(issue, trials_of(6, spread=1.0), range(6)))
    assert list(frame["claim"]) == [claim.sentence for claim in issue.claims_of()]
    first = frame.iloc[0]
    assert (first["before"], first["after"], first["effect"]) == pytest.approx((0.1, 0.9 + 2.5, 3.3))
    assert frame["before"][1] == 1, "a level known beforehand"
    assert first["low"] <= first["effect"] <= first["high"]
    assert first["p"] == pytest.approx(2 / 2**6)
    assert (first["finding"], first["seeds"], first["unit"], first["smallest effect"]) == ("Holds", 6, "nats", 0.01)


def test_cells_are_empty_where_there_is_no_such_number() -> None:
    never = Claim("never", above("long", "nothing"), 1.0, sentence="Nothing has this.")
    ratio = Claim(
        "ratio", lambda values: values("short", "loss") / values("long", "loss"), 1.0, sentence="Nine to one."
    )
    issue = fake_issue(claims=(*fake_issue().claims, never, ratio))
    frame = effects_frame(report(issue, trials_of(1), range(1)))
    assert frame["effect"].isna().tolist() == [False, False, True, False]
    assert frame["after"].isna().tolist() == frame["before"].isna().tolist() == [False, False, True, True]
    assert frame["effect"][3] == pytest.approx(9), "the ratio is no difference of two numbers"
    assert set(frame["finding"]) == {"Undecided (needs at least six seeds)"}
    alike = effects_frame(report(fake_issue(seeds=6), trials_of(6), range(6)))
    assert list(alike["finding"]) == ["Holds", "Holds"]
    for found in (frame, alike):
        assert found[["low", "high", "p"]].isna().all(axis=None)


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


@pytest.mark.usefixtures("own_data_folder")
def test_a_row_for_each_encoding_and_property() -> None:
    evidence = {row["encoding"]: row["cells"] for row in evidence_table()}
    frame = evidence_frame(evidence)
    assert list(frame) == EVIDENCE
    assert len(frame) == len(ENCODINGS) * len(PROPERTIES)
    cells = [cell for of_one in evidence.values() for cell in of_one]
    assert {cell["state"] for cell in cells} >= {"supported", "not measured", "no row"}
    for row, cell in zip(frame.to_dict("records"), cells, strict=True):
        assert (row["property"], row["state"], row["seeds"]) == (cell["quality"], cell["state"], cell["seeds"])
        for name, number in (("value", cell["value"]), ("number", cell["number"]), ("chance", cell["chance"])):
            assert isnan(row[name]) if number is None else row[name] == number
        assert isnan(row["low"]) if cell["ci"] is None else (row["low"], row["high"]) == cell["ci"]
    assert evidence_frame({}).empty
