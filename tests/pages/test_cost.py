import pytest
from streamlit.testing.v1 import AppTest

from engine.analysis.measurements.cost import measure_at
from engine.estimate.by_length import longest, memory_at
from engine.experiments.sweeps import KINDS
from engine.experiments.sweeps.plan import Plan, read_plan
from engine.experiments.sweeps.result import Result, Visit
from engine.experiments.sweeps.store import shipped
from engine.experiments.sweeps.sweep import Sweep
from engine.settings.costs import MachineFacts
from pages.parts import cost
from pages.parts.app import server
from pages.parts.cost import SETTINGS, SWEEPS, CostView, begin_sweep, recurrent_kernels
from tests.engine.serving.test_pool import until
from tests.pages.looking import Open, disabled, messages_of, press
from tests.pages.looking import page_text as words_of

PAGE = "cost.py"
SMALL = {"longest": "256", "kinds": "fused,cnn", "rounds": "1", "d_model": "8", "n_heads": "2"}


def page_text(app: AppTest) -> str:
    return " ".join([words_of(app), *(table.value.to_csv() for table in app.table)])


def test_it_opens_alive_with_predictions_and_a_link_restores_the_settings_and_starts_nothing(open_page: Open) -> None:
    app = open_page(PAGE)
    assert app.title[0].value == "Cost"
    assert "Measured earlier" in page_text(app)
    assert "**Measure** repeats it here" in page_text(app)
    assert "Measured earlier" not in page_text(open_page(PAGE, d_model="64")), "it is of another model"
    assert "A GRU takes 39 times as long as an LSTM. torch runs" in messages_of(app)
    assert "LSTM, oneDNN" in messages_of(app), "at the line, too"
    assert "the same time for every token" not in page_text(app), "the figure shows the GRU as the slowest"
    fits = cost.longest_frame(Plan(), shipped(), CostView())
    assert all(cell in page_text(app) for cell in fits.loc[KINDS["gru"].label])
    assert [table.value.index.name for table in app.table] == ["Model", "Number"], "no head without words"
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
    assert "Measured on" in page_text(app)
    again = open_page(PAGE, sweep=name)
    assert again.get_by_key(SETTINGS.widget_key("longest")).value == 256
    assert "Measured on" in page_text(again)
    monkeypatch.setattr(SWEEPS, "find", lambda name: None)  # as after a restart of the server
    assert "Measured on" in page_text(open_page(PAGE, sweep=name))


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
    assert "Measured on" in page_text(app)
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


def test_bytes_are_those_of_the_formula_or_counted_and_a_length_that_fits_uses_the_memory_up() -> None:
    frame = cost.longest_frame(Plan(), shipped(), CostView())
    assert list(frame.columns) == [
        "Parameters", "Kept at 2,048 tokens", "Kept at 4,096 tokens", "Cache per token", "Fits in 16 GiB",
    ]  # fmt: skip
    assert list(frame.loc[KINDS["materialised"].label]) == ["9,258", "70,909,956", "276,037,636", "256 B", "32,000"]
    assert list(frame.loc[KINDS["gru"].label][1:4]) == ["2,809,860", "5,619,716", "–"], "it keeps a state"
    for kind in KINDS:
        keeps = cost.saved_bytes_by_length(Plan(), kind, shipped())
        assert [keeps(at.tick) for at in shipped().summaries(kind, "saved")] == [
            at.value for at in shipped().summaries(kind, "saved")
        ], "each counted length is on the line, to the byte"
        state = memory_at(Plan().config(kind, 64), 64).state
        fits = longest(lambda length, keeps=keeps, state=state: state + keeps(length), CostView().bytes)
        assert state + keeps(fits) <= CostView().bytes < state + keeps(fits + 1)
    assert set(cost.longest_frame(Plan(), None, CostView()).loc[KINDS["gru"].label][1:3]) == {cost.UNKNOWN}
    assert set(cost.longest_frame(Plan(d_model=64), shipped(), CostView()).loc[KINDS["gru"].label][1:3]) == {
        cost.UNKNOWN
    }


def test_twice_the_width_or_layers_has_the_parameters_and_bytes_of_the_formulas_in_the_text() -> None:
    """``cost.md``: (4 + 2f) d² + (9 + f) d parameters of a block, and 4 [(8 + 2f) N d + 4 N + B h T²] bytes of it."""
    frame = cost.growth_frame(Plan())
    blocks = [int(cell.split(" ")[0].replace(",", "")) for cell in frame.loc["Parameters of the blocks"]]
    one, wide = (8 * d**2 + 11 * d for d in (32, 64))
    assert blocks == [one, one, wide, 2 * one, one]
    n_bytes = [int(cell.split(" ")[0].replace(",", "")) for cell in frame.loc["Kept, scores stored (bytes)"]]
    length = 4096
    assert n_bytes[3] - n_bytes[0] == 4 * (12 * length * 32 + 4 * length + 4 * length**2), "a further block"
    assert n_bytes[4] == n_bytes[3], "a shared block saves parameters and no activations"
    assert list(cost.growth_frame(Plan(n_layers=40)).columns) == ["This model", "Twice the tokens", "Twice the width"]


@pytest.mark.parametrize("change", [{"dropout": 0.1}, {"pos_encoding": "t5_bias"}])
def test_with_dropout_or_a_learned_bias_fused_attention_on_a_cpu_stores_a_number_for_each_pair(
    change: dict[str, float | str],
) -> None:
    config = read_plan({"d_model": 8, "n_heads": 2}).config("fused", 64).replace(**change)
    saved = [measure_at(config, length, device="cpu", memory=True).memory.saved for length in (256, 512)]
    assert saved[1] > 3.5 * saved[0]


@pytest.mark.parametrize("query", [{"axis": "depth", "part_of": "gru"}, {"kinds": "lstm"}])
def test_every_view_can_be_shown(open_page: Open, query: dict[str, str]) -> None:
    open_page(PAGE, **query)


def test_a_link_to_what_was_removed_says_so(open_page: Open) -> None:
    app = open_page(PAGE, memory="2.5", models="llama3-70b", seconds="2")
    assert "Estimates for well-known models were removed" in page_text(app)
    assert "The longest sequence for a given time was removed" in page_text(app)
    assert app.get_by_key(SETTINGS.widget_key("memory")).value == 2.5
