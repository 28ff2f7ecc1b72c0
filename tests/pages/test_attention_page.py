"""The attention page by its widgets and words, over a real worker."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine.analysis.attention.requests import ModelRequest, file_of
from engine.config.run_config import parse
from engine.foundation.visitor import Visitor
from engine.runs.events import Snapshot
from engine.runs.run import Run
from pages.parts.attention.state import SETTINGS, VIEWS, AttentionState, fitted, seconds_to, steps_to_show, why_not
from pages.parts.boards.recorded import recorded_run
from pages.parts.charts import attention as charts
from tests.pages.looking import Open, ended, labels, press, said

key = SETTINGS.widget_key


def show(app: AppTest, view: str) -> AppTest:
    app.button_group(key=key("view")).set_value(view).run()
    assert not app.error, app.error
    return app


@pytest.fixture(scope="module")
def trained(_data_folder: None) -> Run:
    """A run of an encoder-decoder with its weights."""
    kind = {"family": "encoder_decoder", "pos_encoding": "rope", "n_heads": 2, "qk_norm": True}
    config = parse({**kind, "steps": 12, "seq_len": 5})
    return ended(config, Visitor("a-visitor"))


def test_the_page_is_alive_before_anything_trained_and_every_view_works(open_page: Open) -> None:
    app = open_page("attention.py")
    assert "Query 8" in said(app)
    assert "Put together, these steps give the model's numbers, to" in said(app)
    numbers = app.dataframe[0].value
    assert numbers["masked"].tolist()[-3:] == [-np.inf] * 3, "what comes after query 8 of 11"
    assert numbers["weight"].sum() == pytest.approx(1, abs=1e-5)
    assert not file_of(ModelRequest(recorded_run().config)).exists(), "its weights are there: nothing is trained"
    for view in VIEWS:
        show(app, view)
    assert app.query_params["view"] == "faults"


def test_a_link_restores_a_run_with_all_its_attentions(open_page: Open, trained: Run) -> None:
    app = open_page("attention.py", run=trained.id, which="cross", layer="1", head="2", position="4", text="4 1 2 3 0")
    assert not app.error
    assert app.selectbox(key=key("run")).value == trained.id
    assert "Query 4 (token **2**)" in said(app)
    assert "Cross-attention has no encoding of its own." in said(app)
    app.button_group(key=key("which")).set_value("encoder").run()
    assert "RoPE turns q by the angles of position 4" in said(app)
    assert "QK-norm brings q and each k to mean 0 and variance 1" in said(app)
    for view in ("heads", "change", "training"):
        show(app, view)
    assert app.session_state["attention"]["text"] == "4 1 2 3 0"


def test_a_layer_that_this_run_does_not_have_is_named(open_page: Open) -> None:
    app = open_page("attention.py", layer="9", head="2")
    assert [warning.value for warning in app.warning] == [
        "From the link, `layer` is `9`; allowed is at most 1 in this run. Ignored."
    ]
    assert dict(app.query_params) == {"head": "2"}


def test_a_link_of_earlier_versions_names_the_same_query(open_page: Open) -> None:
    app = open_page("attention.py", query="3")
    assert "Query 4 (token" in said(app)
    assert app.query_params["position"] == "4"
    assert not app.warning


def test_the_readers_newest_run_is_looked_at_first(open_page: Open, trained: Run) -> None:
    app = open_page("attention.py")
    assert app.selectbox(key=key("run")).value == "recorded"
    app.session_state["visitor"] = "a-visitor"
    app.run()
    assert app.selectbox(key=key("run")).value == trained.id
    assert app.query_params["run"] == trained.id
    app.selectbox(key=key("run")).set_value("recorded").run()
    assert app.session_state["attention"]["run"] == "recorded"


def test_own_tokens_are_checked_and_nothing_is_lost(open_page: Open) -> None:
    app = open_page("attention.py", text="3 1 77", layer="1")
    (error,) = app.error
    assert (
        error.value
        == "Your token `77` is not known; allowed are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, with spaces between them."
    )
    app.text_input(key=key("text")).set_value("3 1 4").run()
    assert not app.error
    assert app.session_state["attention"]["layer"] == 1


def test_a_run_on_words_reads_a_plain_sentence(open_page: Open) -> None:
    small = {"vocab_size": 500, "seq_len": 12, "n_heads": 2, "d_model": 16, "steps": 2}
    run = ended(parse({"task": "shakespeare_words", "plays": 1, **small}))
    app = open_page("attention.py", run=run.id, text="To be, or not to be")
    assert not app.error
    assert app.text_input(key=key("text")).placeholder == "as in To be, or not to be"
    assert "(token **or**)" in said(app) or "token **not**" in said(app)
    app.text_input(key=key("text")).set_value("To be Gandalf, or").run()
    assert not app.error
    assert "`Gandalf` is not in the vocabulary: the model reads the unknown token there." in said(app)


def test_faults_are_switched_one_mask_at_a_time_and_the_tests_say_so(open_page: Open) -> None:
    app = open_page("attention.py", view="faults")
    assert "**6 of 6 tests pass.**" in said(app)
    app.toggle(key=key("fault.mask_missing")).set_value(True).run()
    failed = ":red-badge[:material/cancel: No output moves when a later token changes]"
    assert f"**5 of 6 tests pass.** {failed}" in said(app)
    app.toggle(key=key("fault.mask_transposed")).set_value(True).run()
    assert app.session_state["attention"]["faults"] == ("mask_transposed",)
    assert app.toggle(key=key("fault.mask_missing")).value is False
    assert "def future_leak(" in " ".join(code.value for code in app.code)


def test_the_recorded_run_is_there_at_every_snapshot_and_others_wait_for_readers(open_page: Open, trained: Run) -> None:
    again = "Train again up to step"
    for event in recorded_run().events.of(Snapshot)[:3]:
        app = open_page("attention.py", step=str(event.step), run="recorded")
        assert "Query 8" in said(app)
        assert not any(label.startswith(again) for label in labels(app))
    app = open_page("attention.py", run=trained.id, step="4")
    assert not file_of(ModelRequest(trained.config, step=4)).exists(), "a link never starts training"
    press(app, f"{again} 4")
    assert file_of(ModelRequest(trained.config, step=4)).exists()
    assert "Query 4" in said(app)


def test_two_steps_are_compared_on_the_sequence_that_is_chosen(open_page: Open) -> None:
    app = open_page("attention.py", view="training", sample="2", position="4")
    kept = [event.step for event in recorded_run().events if isinstance(event, Snapshot)]
    assert app.select_slider(key=key("before")).options == [str(step) for step in kept]
    assert "kept while the run trained" in said(app)
    app.number_input(key=key("sample")).set_value(7).run()
    assert not app.error
    assert app.select_slider(key=key("before")).options == [str(step) for step in kept], "their weights are there"
    assert "this run kept the patterns of sequences 0 to 3" in said(app)


def test_a_link_to_the_exchange_of_a_path_says_that_it_was_removed_and_keeps_the_rest(open_page: Open) -> None:
    app = open_page("attention.py", view="change", exchanged="true", off="self.1.2")
    assert not app.error
    assert "The exchange of a path between two sequences was removed" in said(app)
    assert app.button_group(key=key("off")).value == ["self.1.2"]


def test_heads_off_and_temperature_are_in_the_link(open_page: Open) -> None:
    app = open_page("attention.py", view="change", off="self.1.2,cross.1.1", temperature="2")
    assert app.button_group(key=key("off")).value == ["self.1.2"], "what this run does not have stays out"
    assert app.select_slider(key=key("temperature")).value == 2.0
    loss = app.metric[0]
    assert (loss.label, loss.delta[0]) == ("Held-out loss (nats)", "+")


def test_what_a_run_does_not_have_is_left_to_it() -> None:
    one = parse({"n_layers": 1, "n_heads": 1})
    now = fitted(AttentionState(which="cross", layer=4, head=3), one)
    assert (now.which, now.layer, now.head) == ("self", 1, 1)


def test_runs_that_can_be_shown_have_steps_up_to_their_end(trained: Run) -> None:
    run = recorded_run()
    assert why_not(trained) == why_not(run) == ""
    assert steps_to_show(run)[-1] == run.config.steps
    assert 0 < seconds_to(run, 20) < seconds_to(run, run.config.steps)


def test_pictures_say_their_units_on_fixed_or_even_scales_and_tokens_are_text() -> None:
    names, color = ["<b>", "b", "c"], "#2F7FD6"
    matrix = np.array([[1.0, -2.0, 0.0]] * 3)
    pattern = charts.pattern_picture(np.eye(3), names, names, query=1)
    assert list(pattern.layout.xaxis.ticktext) == ["&lt;b>", "b", "c"]
    assert (pattern.layout.shapes[0].y0, pattern.layout.shapes[0].y1) == (1.5, 2.5)
    weight = pattern.data[0]
    assert (weight.zmin, weight.zmax, weight.colorbar.title.text) == (0.0, 1.0, "weight")
    change = charts.difference_picture(matrix, names, names).data[0]
    assert (change.zmin, change.zmax) == (-1.0, 1.0)
    values = charts.numbers_picture(matrix, "value", x="d", y="key").data[0]
    assert (values.zmin, values.zmax) == (-2.0, 2.0)
    moved = charts.influence_picture(np.triu(np.ones((3, 3))), names, 1.0).data[0].z
    assert np.array(moved)[0, 1] == 0.0, "rows are outputs: the first does not move when the second token changes"
    rows = [("q · k", matrix[0]), ("weight", np.array([0.2, 0.8, 0.0]))]
    strips = charts.strips_picture(rows, names, np.array([0, 0, 1]) > 0, color)
    assert [list(trace.x) for trace in strips.data] == [[1, 2], [3], [1, 2], [3]]
    lines = [charts.Line("L1 H1", [0], [1]), charts.Line("L1 H2", [0], [2], strong=False)]
    drawn = charts.lines_picture(lines, x="step", y="keys", color=color)
    assert [trace.name for trace in drawn.data] == ["L1 H2", "L1 H1"], "the strong one lies on top"
