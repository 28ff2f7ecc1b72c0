import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.config.run_config import RunConfig, parse
from engine.runs.run import Run
from pages.parts.lab.apart import refusal
from pages.parts.lab.apart_state import OPEN, SETTINGS, VIEWS, apart_message, choose
from tests.pages.looking import Open, messages_of, page_text, store_ended_run

key = SETTINGS.widget_key


def show(app: AppTest, view: str) -> AppTest:
    app.button_group(key=key("view")).set_value(view).run()
    assert not app.error, app.error
    return app


@pytest.fixture(scope="module")
def decoder(_data_folder: None) -> Run:
    return store_ended_run(parse({"n_layers": 1, "n_heads": 2, "d_model": 16, "steps": 12, "seq_len": 5}))


@pytest.fixture(scope="module")
def pair(_data_folder: None) -> Run:
    kind = {"family": "encoder_decoder", "pos_encoding": "rope", "n_heads": 2, "qk_norm": True}
    return store_ended_run(parse({**kind, "steps": 12, "seq_len": 5}))


def test_it_is_closed_at_first_opens_on_the_first_head_and_every_view_works(open_page: Open, decoder: Run) -> None:
    app = open_page("lab.py", run=decoder.id)
    assert "looks most at key" not in page_text(app)
    assert "apart" not in app.query_params
    app.session_state[OPEN] = True
    app.run()
    assert "L1 H1: query 7 (token" in page_text(app)
    assert "These steps give the model's numbers, to" in page_text(app)
    numbers = app.dataframe[0].value
    assert numbers["masked"].tolist()[-2:] == [-np.inf] * 2, "what comes after query 7 of 9"
    assert numbers["weight"].sum() == pytest.approx(1, abs=1e-5)
    for view in VIEWS:
        assert show(app, view).query_params["apart"] == view
    assert "Trained: After 1 layer" in messages_of(app)
    assert "Untrained: After 1 layer" in messages_of(app)


def test_on_arrival_the_recorded_run_of_these_settings_is_taken_apart_by_every_view(open_page: Open) -> None:
    app = open_page("lab.py")
    assert "right answers turn green" in page_text(app), "until then the untrained model is shown, to be trained"
    app.session_state[OPEN] = True
    app.run()
    assert "right answers turn green" not in page_text(app)
    assert "L1 H1: query 8 (token" in page_text(app)
    assert "Here the model answers" in page_text(app)
    for view in (*(view for view in VIEWS if view != "faults"), "faults"):
        show(app, view)
    assert "**6 of 6 tests pass.**" in page_text(app)
    app.toggle(key=key("fault.mask_missing")).set_value(True).run()
    assert "**5 of 6 tests pass.**" in page_text(app)


def test_a_link_to_a_recorded_run_takes_it_apart_at_the_head_that_it_names(open_page: Open) -> None:
    chosen = {"apart.layer": "2", "apart.position": "12"}
    app = open_page("lab.py", run="recorded-hops", apart="steps", **chosen)  # as links of earlier versions named it
    assert app.session_state["form"]["task"] == "hops"
    assert not app.warning
    assert "L2 H1: query 12 (token" in page_text(app)
    assert {"apart": "steps", **chosen}.items() <= dict(app.query_params).items()
    changed = open_page("lab.py", run="recorded-hops", apart="steps", seed="1")
    assert "Train first. Then you can take the model apart." in page_text(changed), "no recorded run has these settings"


def test_a_model_without_attention_has_nothing_to_take_apart(open_page: Open) -> None:
    assert "Take it apart" not in {box.label for box in open_page("lab.py", family="gru", apart="steps").expander}


def test_a_link_restores_what_is_chosen_in_a_run_with_all_its_attentions(open_page: Open, pair: Run) -> None:
    chosen = {"apart.which": "cross", "apart.head": "2", "apart.position": "4", "apart.text": "4 1 2 3 0"}
    app = open_page("lab.py", run=pair.id, apart="steps", **chosen)
    assert not app.error
    assert not app.warning
    assert "cross L1 H2: query 4 (token **2**)" in page_text(app)
    assert "Cross-attention has no encoding." in page_text(app)
    assert {"apart": "steps", "run": pair.id, **chosen}.items() <= dict(app.query_params).items()
    app = open_page("lab.py", run=pair.id, apart="steps", **chosen | {"apart.which": "encoder"})
    assert "RoPE turns q by the angles of position 4" in page_text(app)
    assert "QK-norm normalises q and each k" in page_text(app)
    for view in ("heads", "change", "depth"):
        show(app, view)
    assert "This run has two stacks" in page_text(app)


def test_what_a_run_does_not_have_is_left_to_it_and_what_was_removed_is_named(open_page: Open, decoder: Run) -> None:
    beyond = {"apart.which": "cross", "apart.layer": "9", "apart.head": "2", "apart.position": "40"}
    removed = {"apart.exchanged": "true", "apart.sample": "3", "apart.step": "4"}
    app = open_page(
        "lab.py", run=decoder.id, apart="change", **beyond, **removed, **{"apart.off": "self.1.2,cross.1.1"}
    )
    assert not app.error
    for words in (
        "`apart.exchanged` is not a setting here.",
        "Switch heads off",
        "Type a sequence",
        "the end of its run",
    ):
        assert words in page_text(app)
    assert app.button_group(key=key("off")).value == ["self.1.2"], "what this run does not have stays out"
    assert "L1 H2: query 7 (token" in page_text(show(app, "steps"))


def test_the_picture_chooses_opens_it_and_hears_what_was_chosen_in_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    nothing = {"which": "self", "layer": None, "head": None, "position": None, "text": ""}
    assert apart_message() == {"open": False, **nothing}
    choose({"which": "self", "layer": 2, "head": 1, "position": 7, "text": "3 1 4"})
    assert apart_message() == {"open": False, "which": "self", "layer": 2, "head": 1, "position": 7, "text": "3 1 4"}
    choose({"which": "zork", "layer": "x", "head": -1, "position": None, "open": True})
    assert apart_message() == {"open": True, **nothing}, "what is none is passed over"


def test_a_sequence_of_ones_own_is_checked(open_page: Open, decoder: Run) -> None:
    app = open_page("lab.py", run=decoder.id, apart="steps", **{"apart.text": "3 1 77"})
    (error,) = app.error
    allowed = "the tokens are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, with spaces between them."
    assert error.value == f"Your token `77` is not known; {allowed}"


def test_a_run_on_words_reads_a_plain_sentence(open_page: Open) -> None:
    small = {"vocab_size": 500, "seq_len": 12, "n_heads": 2, "d_model": 16, "steps": 2}
    run = store_ended_run(parse({"task": "shakespeare_words", "plays": 1, **small}))
    app = open_page(
        "lab.py", run=run.id, apart="steps", **{"apart.text": "To be, Gandalf or not", "apart.position": "5"}
    )
    assert not app.error
    assert "L1 H1: query 5 (token **or**)" in page_text(app)
    assert "`Gandalf` is not in the vocabulary: the model reads the unknown token there." in page_text(app)


def test_faults_are_switched_one_mask_at_a_time_and_the_tests_say_so(open_page: Open, decoder: Run) -> None:
    app = open_page("lab.py", run=decoder.id, apart="faults")
    assert "**6 of 6 tests pass.**" in page_text(app)
    app.toggle(key=key("fault.mask_missing")).set_value(True).run()
    failed = ":red-badge[:material/cancel: No output moves when a later token changes]"
    assert f"**5 of 6 tests pass.** {failed}" in page_text(app)
    app.toggle(key=key("fault.mask_transposed")).set_value(True).run()
    assert app.query_params["apart.faults"] == "mask_transposed"
    assert app.toggle(key=key("fault.mask_missing")).value is False
    assert "def future_leak(" in " ".join(code.value for code in app.code)


def test_heads_off_and_temperature_change_the_numbers(open_page: Open, decoder: Run) -> None:
    changes = {"apart.off": "self.1.2", "apart.temperature": "2.0"}
    app = open_page("lab.py", run=decoder.id, apart="change", **changes)
    assert app.select_slider(key=key("temperature")).value == 2.0
    assert changes.items() <= dict(app.query_params).items()
    assert app.metric[0].label == "Held-out loss (nats)"
    assert any(metric.delta for metric in app.metric)


def test_a_run_that_cannot_be_taken_apart_says_why(decoder: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(decoder) == ""
    with monkeypatch.context() as patch:
        patch.setattr(Run, "weights", None)
        assert refusal(decoder) == "This run has no weights."
        patch.setattr(Run, "live", True)
        assert refusal(decoder) == "You can take this run apart when it has ended."
    monkeypatch.setattr(decoder, "config", RunConfig(seq_len=1024, n_layers=48))
    assert "million attention weights per sequence" in refusal(decoder)
