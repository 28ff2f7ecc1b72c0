"""The encodings page by its widgets and words: two side by side, a run's snapshots, the evidence, the link."""

from dataclasses import replace
from typing import Any

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.experiments.choice import PROPERTIES
from engine.foundation.visitor import Visitor
from pages.parts.encodings.evidence import Row, evidence_styled, grouped, row_in_words
from pages.parts.encodings.state import SETTINGS, config_of, settings_now
from tests.pages.looking import Open, ended, said

PAGE = "encodings.py"
widget_key = SETTINGS.widget_key


def test_any_two_stand_side_by_side_with_their_numbers(open_page: Open) -> None:
    app = open_page(PAGE, a="learned", b="shaw", d_model="32", seq_len="16")
    words = said(app)
    assert "**512** extra parameters" in words  # 16 rows of 32
    assert "**0 %** extra FLOPs a token" in words, "rows are looked up"
    assert "Position 16 has no row: a sequence longer than 16 cannot be read at all." in words
    assert ENCODINGS["shaw"].shown_as in words
    app.selectbox(key=widget_key("b")).select("rope").run()
    assert not app.exception
    assert "10000" in app.latex[1].value
    assert "b" not in app.query_params, "what is as by default is left out"
    app.number_input(key=widget_key("n_heads")).set_value(5).run()
    assert "`n_heads` is `5`; allowed is a divisor of d_model 32" in said(app)


def test_settings_survive_leaving_the_page_and_a_link_restores_them(open_page: Open) -> None:
    app = open_page(PAGE, a="rope", b="rope", likeness="dot", **{"b.rope_base": "100"})
    app.switch_page("start.py").run()
    app.switch_page(PAGE).run()
    assert not app.exception
    assert [app.number_input(key=widget_key(f"{side}.rope_base")).value for side in "ab"] == [10_000, 100]


def test_two_different_encodings_share_a_base_and_two_of_a_kind_do_not() -> None:
    values = {"a": "sinusoidal", "b": "rope", "base": 500.0}
    assert config_of(values, "a").value("sinusoid_base") == config_of(values, "b").value("rope_base") == 500
    assert not any(name.endswith("_base") for name in settings_now(values))
    alike = {"a": "rope", "b": "rope", "b.rope_base": 500.0, "base": 7.0}
    assert [config_of(alike, side).value("rope_base") for side in "ab"] == [10_000, 500]


def test_the_recorded_run_is_looked_at_along_its_snapshots(open_page: Open) -> None:
    app = open_page(PAGE, view="training", step="101")
    slider = app.select_slider(key=widget_key("step"))
    assert slider.value == 100, "the nearest kept"
    assert "Order at the start" in said(app)
    slider.set_value(300).run()
    assert not app.exception
    assert "at step 300" in said(app)
    assert app.query_params["step"] in ("300", ["300"])


def test_own_runs_are_listed_with_their_final_scales_and_layers_with_encodings_of_their_own_are_chosen_among(
    open_page: Open,
) -> None:
    app = open_page(PAGE, view="training", layer="2")
    assert widget_key("layer") not in {group.key for group in app.button_group}, "all layers of that run share one"
    configs = (RunConfig(steps=5), RunConfig(steps=3, n_layers=2, pos_encoding="shaw"))
    plain, layers = (ended(config, Visitor(app.session_state["visitor"])) for config in configs)
    app = app.run()
    assert len(app.selectbox(key=widget_key("run")).options) == 3
    app.selectbox(key=widget_key("run")).set_value(plain.id).run()
    assert not app.exception
    assert app.select_slider(key=widget_key("step")).value == 5
    assert "At the end the tokens' scale is" in said(app)

    app = open_page(PAGE, view="training", layer="2", run=layers.id)
    assert "shown is that of layer 2" in said(app)
    app.button_group(key=widget_key("layer")).select(1).run()
    assert not app.exception
    assert "shown is that of layer 1" in said(app)
    assert app.query_params["layer"] in ("1", ["1"])


def test_the_evidence_is_sorted_by_what_is_needed(open_page: Open) -> None:
    app = open_page(PAGE, view="choose", needs="longer")
    words = said(app)
    assert "The evidence supports" in words
    assert "**Learned table**: beyond the trained length cannot be run there (16 seeds)" in words
    (table,) = app.table
    assert len(table.value) == len(ENCODINGS)
    assert "Every number (CSV)" in [button.proto.label for button in app.get("download_button")]


def cell(quality: str, state: str, value: float | None = None) -> dict[str, Any]:
    return {
        "quality": quality, "state": state, "value": value, "ci": (value - 0.1, value + 0.1) if value is not None else None,
        "seeds": 8, "number": value, "number_before": None, "chance": 0.1, "arm": "", "origin": "this version", "query": {"issue": "x"},
    }  # fmt: skip


def row(encoding: str, longer: dict[str, Any], parameters: int) -> Row:
    others = (cell(wanted.slug, "not measured") for wanted in PROPERTIES[1:])
    return Row(encoding, (longer, *others), parameters, 0.05, None)


ROWS = [
    row("learned", cell("longer", "no row"), 100),
    row("nope", cell("longer", "not measured"), 0),
    row("shaw", cell("longer", "supported", 0.9), 50),
    row("rope", cell("longer", "supported", 0.8), 0),
]


def test_what_is_known_comes_first_and_what_speaks_against_it_last() -> None:
    for needs, first in ((["longer"], ["shaw", "rope"]), (["longer", "parameters"], ["rope", "shaw"])):
        found = {group: [row.encoding for row in rows] for group, rows in grouped(ROWS, needs).items()}
        assert found == {"supported": first, "open": ["nope"], "against": ["learned"]}
        assert "0.80 (0.70 to 0.90, 8 seeds)" in row_in_words(ROWS[3], needs)


def test_the_table_links_every_cell_escapes_its_words_and_has_measured_times_with_their_interval() -> None:
    styled = evidence_styled([row("rope", cell("longer", "supported", 0.8) | {"arm": '<b> "b"'}, 7)])
    frame = styled.data  # type: ignore[attr-defined]
    assert list(frame) == [*(wanted.label for wanted in PROPERTIES), "Extra parameters", "Extra FLOPs", "Forward time"]
    assert (frame.index.name, list(frame.index)) == ("Encoding", ["RoPE"])
    cells = list(frame.iloc[0])
    assert cells[0].startswith('[0.80 ◇](issues?issue=x "')
    assert r"Arm “\<b\> \"b\"”" in cells[0]
    assert all("](issues?issue=x " in words for words in cells[: len(PROPERTIES)])
    assert cells[len(PROPERTIES) :] == ["7", "5.0 %", "–"]
    assert "#1A7F4B" in styled.to_html(), "the colour of what is supported"

    timed = replace(ROWS[3], timing={"ratio": 1.5, "low": 1.25, "high": 1.75, "seconds": 0.004})
    told = evidence_styled([timed]).data["Forward time"].iloc[0]  # type: ignore[attr-defined]
    assert told.split("  \n") == ["1.50 × ◆", ":small[1.25 to 1.75, 4 ms]"]
