"""The page on memory and time by its widgets and words: links, a real measurement, what fits."""

import pytest
from streamlit.testing.v1 import AppTest

from engine.estimate.speed import Speed
from engine.experiments.sweeps import KINDS
from engine.experiments.sweeps.plan import Plan
from engine.experiments.sweeps.result import Result, Visit
from engine.experiments.sweeps.sweep import Sweep
from engine.settings.costs import MachineFacts, Memory
from pages.parts import memory_and_time
from pages.parts.app import server
from pages.parts.memory_and_time import SETTINGS, SWEEPS, CostView, begin_sweep, recurrent_kernels
from tests.engine.serving.test_pool import until
from tests.pages.looking import Open, disabled, press, sent
from tests.pages.looking import said as words_of

PAGE = "memory_and_time.py"
SMALL = {"longest": "256", "kinds": "fused,cnn", "rounds": "1", "d_model": "8", "n_heads": "2"}


def said(app: AppTest) -> str:
    return " ".join([words_of(app), *(table.value.to_csv() for table in app.table)])


def test_it_opens_alive_with_predictions_and_a_link_restores_the_settings_and_starts_nothing(open_page: Open) -> None:
    app = open_page(PAGE)
    assert app.title[0].value == "Memory and time"
    assert "Measured earlier" in said(app)
    assert "Press Measure" in said(app)
    assert "Measured earlier" not in said(open_page(PAGE, d_model="64")), "it is of another model"
    assert "A GRU takes 39 times as long as an LSTM because of this CPU" in sent(app)
    assert "LSTM, oneDNN" in sent(app), "at the line, too"
    assert "the same time for every token" not in said(app), "the figure shows the GRU as the slowest"
    exact = memory_and_time.longest_frame(Plan(), None, CostView())
    assert list(exact.columns[:3]) == ["Parameters", "Cache per token", "Scores at 4,096 tokens"]
    assert list(exact.loc[KINDS["materialised"].label][:3]) == ["9,258", "256 B", "256 MiB"]
    assert list(exact.loc[KINDS["gru"].label][1:3]) == ["–", "–"], "it keeps a state, and computes no score"
    assert all(cell in said(app) for cell in exact.loc[KINDS["materialised"].label])
    assert all(table.value.index.name == "Model" for table in app.table), "no head without words"
    assert dict(app.query_params) == {}
    assert app.get_by_key(SETTINGS.widget_key("longest")).value == 4096

    link = {**SMALL, "memory": "2.5"}
    app = open_page(PAGE, **link)
    assert app.get_by_key(SETTINGS.widget_key("longest")).value == 256
    assert app.get_by_key(SETTINGS.widget_key("memory")).value == 2.5
    assert app.session_state[SETTINGS.key]["sweep"] is None
    assert dict(app.query_params) == link

    app.get_by_key(SETTINGS.widget_key("n_heads")).set_value(5).run()
    assert "`n_heads` is `5`" in app.error[0].value
    assert disabled(app, "Measure"), "settings that do not go together cannot be measured"


def test_a_measurement_from_the_button_to_the_disk(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(PAGE, **SMALL)
    press(app, "Measure")
    name = app.session_state[SETTINGS.key]["sweep"]
    sweep = SWEEPS.find(name)
    assert sweep.wait(120)
    assert sweep.state == "finished", sweep.problem
    app.run()
    assert {visit.tick for visit in sweep.result.visits} == {64, 128, 256}
    assert "Measured on" in said(app)
    again = open_page(PAGE, sweep=name)
    assert again.get_by_key(SETTINGS.widget_key("longest")).value == 256
    assert "Measured on" in said(again)
    monkeypatch.setattr(SWEEPS, "find", lambda name: None)  # as after a restart of the server
    assert "Measured on" in said(open_page(PAGE, sweep=name))


def test_stop_keeps_what_was_measured(open_page: Open) -> None:
    app = open_page(PAGE, **SMALL | {"rounds": "15"})
    press(app, "Measure")
    sweep = SWEEPS.find(app.session_state[SETTINGS.key]["sweep"])
    assert SWEEPS.find(begin_sweep(Sweep(sweep.plan, server.pool(), visitor=sweep.visitor))) is sweep, "a second press"
    until(lambda: bool(sweep.result.visits))
    press(app, "Stop")
    assert sweep.wait(120)
    assert (sweep.state, sweep.problem) == ("stopped", "")
    app.run()
    assert "Measured on" in said(app)
    assert len(app.get("download_button")) == 2


@pytest.mark.parametrize(
    ("device", "gru", "times"), [("cpu", 0.18, "36 times"), ("cpu", 0.006, ""), ("cuda", 0.18, "")]
)
def test_the_reason_why_a_gru_is_slow_is_told_where_it_is_so_measured_on_a_cpu(
    device: str, gru: float, times: str
) -> None:
    seconds = {"gru": gru, "lstm": 0.005}
    visits = tuple(Visit(at, at, None, None, None, None, kind, 64, 0) for kind, at in seconds.items())
    found = MachineFacts("A processor", device, "2.13", 1, 0)
    sentence = recurrent_kernels(Result(Plan(), found, visits, (), "finished", 1.0, 0.0), "train")
    assert bool(sentence) == bool(times)
    assert times in sentence


@pytest.mark.parametrize(
    ("seconds", "pace"), [((0.01, 0.04, 0.16), "~ 640"), ((0.2, 0.01, 0.1), "≈"), ((0.01, 0.04), "≈")]
)
def test_what_fits_goes_on_from_three_measured_lengths_that_rise_and_else_by_formula(
    seconds: tuple[float, ...], pace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_and_time, "known_speed", lambda: Speed(0.01, 5e9))

    def visit(kind: str, tick: int, at: float) -> Visit:
        return Visit(at, at, None, None, Memory(1, 1, 1, 2**20 * tick, None), None, kind, tick, 0)

    visits = tuple(visit(kind, 64 << power, at) for kind in ("fused", "gru") for power, at in enumerate(seconds))
    result = Result(Plan(), None, visits, (), "finished", 1.0, 0.0)
    frame = memory_and_time.longest_frame(Plan(), result, CostView())
    *_, room, fused_pace = frame.loc[KINDS["fused"].label]
    assert room.startswith("≈"), "by formula where there is one"
    assert fused_pace.startswith(pace)
    digits = fused_pace.split()[1].replace(",", "")
    assert digits[2:] == "0" * len(digits[2:]), "two digits that say something"
    *_, room, gru_pace = frame.loc[KINDS["gru"].label]
    assert room == ("~ 16,000" if len(seconds) > 2 else "measured only"), "a mebibyte for each token"
    assert gru_pace == (fused_pace if pace.startswith("~") else "measured only")


@pytest.mark.parametrize("query", [{"axis": "depth", "part_of": "gru"}, {"kinds": "lstm"}])
def test_every_view_can_be_shown(open_page: Open, query: dict[str, str]) -> None:
    open_page(PAGE, **query)


def test_a_link_to_the_estimates_for_well_known_models_says_that_they_were_removed(open_page: Open) -> None:
    app = open_page(PAGE, memory="2.5", models="llama3-70b")
    assert "The estimates for well-known models were removed" in said(app)
    assert app.get_by_key(SETTINGS.widget_key("memory")).value == 2.5
