"""The encodings page by its widgets and words: two side by side, a run's snapshots, the evidence, the link."""

from dataclasses import replace
from typing import Any

import pytest

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.experiments.benchmark.advice import advice
from engine.experiments.benchmark.costs import CostRow, cheapest_in_words, shipped_times
from engine.experiments.benchmark.criteria import COMPARED, CRITERIA, arm_of, scope_of
from engine.experiments.benchmark.table import Column, TableCell, column
from engine.experiments.trial import Trial
from engine.foundation.visitor import Visitor
from pages.parts.app import questions
from pages.parts.app.in_markdown import escaped
from pages.parts.encodings.compare import DEEPER, FOLDED
from pages.parts.encodings.evidence import evidence_styled, head, hover
from pages.parts.encodings.state import SETTINGS, config_of, settings_now
from tests.pages.looking import Open, ended, labels, said

PAGE = "encodings.py"
widget_key = SETTINGS.widget_key


def test_any_two_stand_side_by_side_with_their_numbers(open_page: Open) -> None:
    app = open_page(PAGE, a="learned", b="shaw", d_model="32", seq_len="16")
    words = said(app)
    assert "In **Learned" in words, "what to see"
    assert "**512** extra parameters" in words  # 16 rows of 32
    assert "Position 17 has no row: a sequence longer than 16 cannot be read at all." in words
    assert ENCODINGS["shaw"].shown_as in words
    app.session_state[FOLDED] = True
    app.selectbox(key=widget_key("b")).select("rope").run()
    assert "10000" in app.latex[1].value
    assert "b" not in app.query_params, "what is as by default is left out"
    app.number_input(key=widget_key("n_heads")).set_value(5).run()
    assert "`n_heads` is `5`; allowed is a divisor of d_model 32" in said(app)
    app.session_state[DEEPER] = True
    app.number_input(key=widget_key("n_heads")).set_value(4).run()
    app.selectbox(key=widget_key("a")).select("nope").run()
    words = said(app)
    assert "**None (NoPE)** adds nothing, so it has no picture; in **RoPE**, each row" in words
    assert "It is defined up to position 32" in words, "RoPE"
    app.selectbox(key=widget_key("b")).select("nope").run()
    words = said(app)
    assert "Adds nothing: only a causal mask" in words
    assert not any(text in words for text in ("each row", "It is defined", "Where are neighbours alike"))
    assert not app.expander, "no figure"


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


def test_the_recorded_run_is_looked_at_along_its_snapshots(open_page: Open) -> None:
    app = open_page(PAGE, view="training", step="101")
    slider = app.select_slider(key=widget_key("step"))
    assert slider.value == 100, "the nearest kept"
    assert "Order at the start" in said(app)
    slider.set_value(300).run()
    assert "at step 300" in said(app)
    assert app.query_params["step"] in ("300", ["300"])


def test_own_runs_are_listed_with_final_scales_and_layers_with_own_encodings_are_chosen_among(open_page: Open) -> None:
    app = open_page(PAGE, view="training", layer="2")
    assert widget_key("layer") not in {group.key for group in app.button_group}, "all layers of that run share one"
    configs = (RunConfig(steps=5), RunConfig(steps=3, n_layers=2, pos_encoding="shaw"))
    plain, layers = (ended(config, Visitor(app.session_state["visitor"])) for config in configs)
    app = app.run()
    assert len(app.selectbox(key=widget_key("run")).options) == 3
    app.selectbox(key=widget_key("run")).set_value(plain.id).run()
    assert app.select_slider(key=widget_key("step")).value == 5
    assert "At the end the tokens' scale is" in said(app)

    app = open_page(PAGE, view="training", layer="2", run=layers.id)
    assert "shown is that of layer 2" in said(app)
    app.button_group(key=widget_key("layer")).select(1).run()
    assert "shown is that of layer 1" in said(app)
    assert app.query_params["layer"] in ("1", ["1"])


def test_before_any_need_is_chosen_one_encoding_is_recommended_for_a_text(open_page: Open) -> None:
    words = advice([column(CRITERIA["text"], 1)]).words
    assert words
    assert words in said(open_page(PAGE, view="choose"))


def test_needs_are_answered_in_a_sentence_and_the_table_begins_with_what_meets_them(open_page: Open) -> None:
    app = open_page(PAGE, view="choose", needs="offsets,parameters", tested="4")
    found = advice([column(CRITERIA["offsets"], 4)])
    assert found.words in said(app)
    assert "The fewest extra parameters of these (" in said(app)
    (table,) = app.table
    assert list(table.value.index)[: len(found.good)] == [ENCODINGS[name].label for name in found.good]
    assert len(table.value) == len(COMPARED)
    assert "A fixed distance (3 back, 4×)" in table.value
    assert any(head.startswith("Language (text, 4×, nats") for head in table.value)
    assert "Mostly short sequences (3 back)" in table.value, "asked about at the trained length alone"
    app = open_page(PAGE, view="choose", needs="few")
    assert advice([column(CRITERIA[name]) for name in ("few", "few_place")]).words in said(app), "two tasks, one need"
    (table,) = app.table
    assert "A fixed distance (3 back, 2×)" in table.value, "at the trained length it is no column"
    assert "Every number (CSV)" in [button.proto.label for button in app.get("download_button")]
    assert "python -m tools.evidence choice" in said(app)


def test_the_table_waits_for_no_worker_and_says_where_its_times_were_measured(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: Any, **__: Any) -> None:
        raise AssertionError("a worker was asked")

    monkeypatch.setattr(questions, "ask", asked)
    app = open_page(PAGE, view="choose", a="designed")
    (table,) = app.table
    assert ENCODINGS["designed"].label not in table.value.index, "a design has no row"
    times = dict(zip(table.value.index, table.value["Forward time"], strict=True))
    shipped = shipped_times()
    assert times["RoPE"].startswith(f"{shipped.by_encoding['rope']['ratio']:.2f} ×")
    assert f"Times: {shipped.machine['processor']}, one core, {shipped.machine['date']}." in said(app)
    assert not [label for label in labels(app) if label.startswith("Measure")], "nothing is measured here"


SELDOM = CRITERIA["seldom"]
FACTS = column(SELDOM, trials=[])
EMPTY = FACTS.cells["rope"]
TIMED = {"ratio": 1.5, "low": 1.25, "high": 1.75, "seconds": 0.004}


def cell(**changes: Any) -> TableCell:
    return {**EMPTY, "seeds": 8, **changes}  # type: ignore[typeddict-item]


def test_the_share_of_unknown_characters_stands_beside_each_number_of_a_text() -> None:
    text = CRITERIA["text"]
    for size, told in ((55, True), (80, False)):
        criterion = replace(text, settings={**text.settings, "vocab_size": size})
        arm = arm_of(criterion, "rope")
        trials = [Trial(arm.name, seed, {criterion.number(1): 2.0}) for seed in range(16)]
        one = column(criterion, 1, trials)
        assert ("% unknown)" in head(one), "% unknown, 16 seeds" in hover(one, "rope")) == (told, told)


def test_a_cell_whose_encoding_has_settings_of_its_own_tells_them_and_the_scale() -> None:
    text = CRITERIA["text"]
    here = [
        Trial(arm_of(text, name).name, seed, {text.number(1): 2.0}) for name in ("rope", "shaw") for seed in range(16)
    ]
    frame = evidence_styled(
        ["rope", "shaw"], [column(text, 1, here)], dict.fromkeys(("rope", "shaw"), CostRow(0, None))
    ).data  # type: ignore[attr-defined]
    rope, shaw = frame.iloc[:, 0]
    turns = "2 of the 4 pairs of dimensions of a head turn once or more within the trained length (base 100)."
    assert f":small[{turns} Models of 2 layers, width 32" in rope
    assert ":small[Press et al. 2022: 20.07, no difference there]" in rope
    assert "Models of 2 layers" in shaw, "on hover"
    assert turns not in shaw


def test_the_table_links_every_cell_and_tells_all_facts_on_hover() -> None:
    best = cell(state="best", number=0.9, ci=(0.8, 1.0), behind=0.0)
    cells = {"rope": best, "nope": cell(state="worse", number=0.5, behind=0.4), "learned": cell(state="no row")}
    one = Column(SELDOM, 1, cells, FACTS.arms, {})
    costs = {name: CostRow(7, None) for name in cells}
    styled = evidence_styled(list(cells), [one], costs)
    frame = styled.data  # type: ignore[attr-defined]
    assert list(frame) == ["Mostly short sequences (3 back)", "Extra parameters", "Forward time"]
    assert (frame.index.name, list(frame.index)) == ("Encoding", [escaped(ENCODINGS[name].label) for name in cells])
    first = list(frame.iloc[0])
    assert first[0].startswith("[0.90](lab?")
    assert first[1:] == ["7", "–"]
    assert "#1A7F4B" in styled.to_html(), "the colour of the best"
    told = "accuracy 0.900 (0.800 to 1.000), 8 seeds. The best. "
    assert hover(one, "rope").startswith(told)
    assert scope_of(SELDOM).capitalize() in hover(one, "rope"), "the scale of the models"
    assert "of the 4 pairs of dimensions" in hover(one, "rope")
    assert "The best is ahead by 0.400: worse." in hover(one, "nope")
    assert hover(one, "learned").startswith("The model cannot be run there (8 seeds")
    assert hover(FACTS, "rope").startswith("Not measured yet.")

    told = evidence_styled(["rope"], [one], {"rope": CostRow(0, TIMED)}).data["Forward time"].iloc[0]  # type: ignore
    assert told.split("  \n") == ["1.50 ×", ":small[1.25 to 1.75, 4 ms]"]


def test_costs_order_what_meets_the_needs() -> None:
    costs = {"rope": CostRow(0, None), "shaw": CostRow(50, TIMED), "alibi": CostRow(0, None)}  # type: ignore[arg-type]
    names = list(costs)
    for among, need, words in (
        (names, "parameters", "The fewest extra parameters of these (0): RoPE and ALiBi."),
        (names, "time", "The least forward time: Shaw relative, 1.50 times that without encoding."),
        (["rope"], "time", "Their forward times were not measured yet."),
        (names, "offsets", ""),
        ([], "parameters", "The fewest extra parameters of all (0): RoPE and ALiBi."),
    ):
        assert cheapest_in_words(among, names, costs, [need]) == words
