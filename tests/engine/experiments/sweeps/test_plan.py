import pytest

from engine.estimate.matching import n_parameters
from engine.experiments.sweeps import KINDS
from engine.experiments.sweeps.plan import Plan, read_plan, width_of
from engine.settings.errors import ConfigError, read_leniently


def test_places_double_and_end_where_asked_and_kinds_may_stand_in_any_order() -> None:
    assert read_plan({"longest": "300"}).ticks == (64, 128, 256, 300)
    assert read_plan({"longest": 512}).ticks == (64, 128, 256, 512)
    assert read_plan({"axis": "depth", "deepest": 6}).ticks == (1, 2, 4, 6)
    assert read_plan({"kinds": "cnn, fused"}).kinds == ("fused", "cnn")


@pytest.mark.parametrize("sizes", [{}, {"d_model": 96, "n_heads": 8, "n_layers": 3}, {"axis": "depth", "d_model": 48}])
def test_all_kinds_have_about_as_many_parameters(sizes: dict[str, object]) -> None:
    plan = read_plan(sizes)
    first = plan.ticks[0]
    counts = {kind: n_parameters(plan.config(kind, first)) for kind in KINDS}
    assert counts["materialised"] == counts["fused"]
    for count in counts.values():
        assert count == pytest.approx(counts["fused"], rel=0.05)


def test_along_the_depth_only_the_depth_changes() -> None:
    plan = read_plan({"axis": "depth", "deepest": 8})
    for kind in KINDS:
        shallow, deep = plan.config(kind, 1), plan.config(kind, 8)
        assert deep == shallow.replace(n_layers=8)
        assert shallow.d_model == width_of(plan, kind)
        assert plan.length_at(8) == plan.seq_len


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"longest": "7"}, "longest is 7; it must be a whole number from 128 to 131072."),
        ({"n_heads": "5"}, "n_heads is 5; it must be a divisor of d_model 32"),
        ({"kv_heads": "3"}, "kv_heads is 3; it must be a divisor of n_heads 4"),
        ({"kinds": "gru,zork"}, "kinds is gru,zork; it must be one or more of materialised, fused, gru, lstm, cnn"),
        ({"kinds": ""}, "it must be one or more of"),
        ({"device": "tpu"}, "device is tpu; it must be one of cpu, accelerator."),
    ],
)
def test_what_does_not_fit_is_named_and_ignored(given: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words.split(";")[0].replace("(", r"\(")):
        read_plan(given)
    plan, ignored = read_leniently({"rounds": "2", **given}, read_plan)
    assert plan == Plan(rounds=2)
    assert words in str(ignored[0])
    assert len(ignored) == 1
