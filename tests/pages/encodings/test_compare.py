import pytest

from engine.encodings import ENCODINGS
from pages.parts.encodings.compare import DEEPER, FOLDED
from pages.parts.encodings.evidence import TABLE
from pages.parts.encodings.state import SETTINGS, config_of, settings_now
from tests.pages.looking import Open, page_text

PAGE = "encodings.py"
widget_key = SETTINGS.widget_key


def test_any_two_stand_side_by_side_with_their_numbers(open_page: Open) -> None:
    app = open_page(PAGE, a="learned", b="shaw", d_model="32", seq_len="16")
    words = page_text(app)
    assert "**512** extra parameters" in words  # 16 rows of 32
    assert "Position 17 has no row, so the model cannot read a sequence longer than 16." in words
    assert ENCODINGS["shaw"].shown_as in words
    app.session_state[FOLDED] = True
    app.selectbox(key=widget_key("b")).select("rope").run()
    assert "10000" in app.latex[1].value
    assert "b" not in app.query_params, "what is as by default is left out"
    app.number_input(key=widget_key("n_heads")).set_value(5).run()
    assert "`n_heads` is `5`; it must be a divisor of d_model 32" in page_text(app)
    app.session_state[DEEPER] = True
    app.number_input(key=widget_key("n_heads")).set_value(4).run()
    assert "In which one do nearby positions look similar" in page_text(app), "what to look for"
    app.selectbox(key=widget_key("a")).select("nope").run()
    words = page_text(app)
    assert "It is defined up to position 32" in words, "RoPE"
    app.selectbox(key=widget_key("b")).select("nope").run()
    words = page_text(app)
    assert "Adds nothing. Only a causal mask" in words
    assert not any(text in words for text in ("In which one", "It is defined"))
    assert [fold.label for fold in app.expander if "Similarity" in fold.label] == [], "no figure"


def test_settings_survive_leaving_the_page_and_a_link_restores_them(open_page: Open) -> None:
    app = open_page(PAGE, a="rope", b="rope", likeness="dot", **{"b.rope_base": "100"})
    app.switch_page("start.py").run()
    app.session_state[FOLDED] = True
    app.switch_page(PAGE).run()
    assert [app.number_input(key=widget_key(f"{side}.rope_base")).value for side in "ab"] == [10_000, 100]


def test_two_different_encodings_share_a_base_and_two_of_a_kind_do_not() -> None:
    values = {"a": "sinusoidal", "b": "rope", "base": 500.0}
    assert config_of(values, "a").value("sinusoid_base") == config_of(values, "b").value("rope_base") == 500
    assert not any(name.endswith("_base") for name in settings_now(values))
    alike = {"a": "rope", "b": "rope", "b.rope_base": 500.0, "base": 7.0}
    assert [config_of(alike, side).value("rope_base") for side in "ab"] == [10_000, 500]


@pytest.mark.parametrize("view", ["compare", "training", "choose"])
def test_a_link_to_an_earlier_tab_keeps_its_values_and_that_to_the_table_opens_it(open_page: Open, view: str) -> None:
    app = open_page(PAGE, view=view, a="alibi", needs="text", tested="4")
    assert app.selectbox(key=widget_key("a")).value == "alibi"
    assert SETTINGS.widget_key("needs") in {group.key for group in app.button_group}
    assert (bool(app.session_state[TABLE]), len(app.table)) == ((True, 1) if view == "choose" else (False, 0))
    assert not app.warning
    assert "view" not in app.query_params
    app = open_page(PAGE, view="training", run="recorded", step="100")
    assert "Following a training was removed. The lab shows an encoding during training." in page_text(app)
