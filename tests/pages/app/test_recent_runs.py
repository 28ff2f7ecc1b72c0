import pytest
from streamlit.testing.v1 import AppTest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.estimate.speed import Speed
from pages.parts.app import recent_runs
from pages.parts.app.recent_runs import MAX_RECENT_RUNS, RecentRuns
from tests.pages.looking import Open, page_text


def recent_of(count: int, *, pinned: int = 0) -> RecentRuns:
    """Recent runs to which so many were added, of which the first ones were pinned at once."""
    recent = RecentRuns()
    for number in range(count):
        recent.add(f"run {number}")
        if number < pinned:
            recent.turn("pinned", f"run {number}")
    return recent


def test_the_oldest_that_is_not_pinned_goes_but_never_the_newest() -> None:
    assert recent_of(MAX_RECENT_RUNS + 1, pinned=1).runs == [
        f"run {number}" for number in (0, *range(2, MAX_RECENT_RUNS + 1))
    ]
    assert recent_of(MAX_RECENT_RUNS + 1, pinned=MAX_RECENT_RUNS + 1).runs == [
        f"run {number}" for number in range(1, MAX_RECENT_RUNS + 1)
    ]


def test_a_choice_is_taken_back_and_goes_with_its_run() -> None:
    recent = recent_of(1, pinned=1)
    recent.turn("hidden", "run 0")
    assert "run 0" in recent.hidden
    recent.turn("hidden", "run 0")
    assert "run 0" not in recent.hidden
    recent.beside = "run 0"
    recent.remove("run 0")
    assert recent == RecentRuns()


@pytest.mark.parametrize(("device", "promised"), [("auto", True), ("cpu", True), ("cuda", False), ("mps", False)])
def test_a_time_is_promised_only_where_the_speed_was_measured(open_page: Open, device: str, promised: bool) -> None:
    app: AppTest = open_page("lab.py", device=device)
    facts = next(box.value for box in app.caption if "parameters" in box.value)
    assert ("about **" in facts) == promised
    assert (f"time not measured on {device}" in facts) != promised
    assert "memory per step" in page_text(app)


@pytest.mark.parametrize(
    ("device", "d_model", "on"),
    [("auto", 256, " on cuda"), ("auto", 16, ""), ("cuda", 16, " on cuda"), ("cpu", 256, "")],
)
def test_the_time_is_that_of_the_device_that_the_settings_ask_for(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, device: str, d_model: int, on: str
) -> None:
    speeds = {"cpu": Speed(1e-3, 1e10), "cuda": Speed(3e-3, 1e13)}

    def measured(config: RunConfig) -> object:
        return predict(config, speeds)

    monkeypatch.setattr(recent_runs, "predict", measured)
    app: AppTest = open_page("lab.py", device=device, d_model=d_model)
    facts = next(box for box in app.caption if "parameters" in box.value)
    assert facts.value.endswith(f"**{on}")
    assert ("A step is predicted to take" in facts.proto.help) == (device == "auto")
    assert f"on {'cuda' if on else 'one CPU core'} here." in facts.proto.help
