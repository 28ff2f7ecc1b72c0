import pytest

from engine.experiments.experiment import Claim, above
from engine.experiments.frames import effects_frame, published_frame
from engine.experiments.issues.issue import Published
from engine.experiments.report import report
from engine.experiments.statistics import FEWEST_FOR_HOLM
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue, fake_report


def test_a_claim_is_a_row_with_its_finding_effect_and_interval() -> None:
    frame = effects_frame(fake_report(short=0.9, noise=1.0))
    assert list(frame["claim"]) == [claim.sentence for claim in fake_issue().claims_of(fake_issue().arms_of())]
    first = frame.iloc[0]
    assert (first["before"], first["after"], first["effect"]) == pytest.approx((0.1, 0.9 + 0.5, 1.3))
    assert frame["before"][1] == 1, "a level known beforehand"
    assert first["low"] <= first["effect"] <= first["high"]
    assert first["p"] == pytest.approx(2 / 2**6)
    assert first["smallest effect"] < first["found"] < first["high"] - first["low"]
    assert (first["finding"], first["seeds"], first["unit"], first["smallest effect"]) == ("Holds", 6, "nats", 0.01)


def test_cells_are_empty_where_there_is_no_such_number() -> None:
    never = Claim("never", above("long", "nothing"), 1.0, sentence="Nothing has this.")
    ratio = Claim("ratio", lambda get: get("short", "loss") / get("long", "loss"), 1.0, sentence="Nine to one.")
    issue = fake_issue(claims=(*fake_issue().claims, never, ratio))
    frame = effects_frame(report(issue, fake_report(range(1), short=0.9).trials, range(1)))
    assert frame["effect"].isna().tolist() == [False, False, True, False]
    assert frame["after"].isna().tolist() == frame["before"].isna().tolist() == [False, False, True, True]
    assert frame["effect"][3] == pytest.approx(9), "the ratio is no difference of two numbers"
    assert set(frame["finding"]) == {"Undecided (needs at least six seeds)"}
    alike = effects_frame(fake_report(noise=0.0))
    assert list(alike["finding"]) == ["Holds", "Holds"]
    for found in (frame, alike):
        assert found[["low", "high", "p", "found"]].isna().all(axis=None)


def test_p_is_corrected_for_the_number_of_claims_only_with_many_seeds() -> None:
    few, many = (fake_report(range(seeds), noise=1.0) for seeds in (FEWEST_FOR_HOLM - 1, FEWEST_FOR_HOLM))
    assert "p (Holm)" not in effects_frame(few)
    assert {row["p_holm"] for row in few.to_json()["claims"]} == {None}
    frame = effects_frame(many)
    assert frame["p (Holm)"][0] == frame["p"][0] == many.claims[0].p_holm, "the other claim has no p"


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
