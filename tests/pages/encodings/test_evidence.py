from dataclasses import replace
from typing import Any

import pytest

from engine.encodings import ENCODINGS
from engine.experiments.benchmark.costs import CostRow, shipped_times
from engine.experiments.benchmark.criteria import COMPARED, CRITERIA, NEEDS, arm_of, scope_of
from engine.experiments.benchmark.table import Column, TableCell, column
from engine.experiments.trial import Trial
from pages.parts.app import questions
from pages.parts.app.in_markdown import escaped
from pages.parts.encodings.evidence import TABLE, columns_at, evidence_styled, head, hover, icon_of
from pages.parts.encodings.state import SETTINGS
from tests.pages.looking import Open, page_text

PAGE = "encodings.py"


def test_the_page_begins_with_an_encoding_its_price_and_what_to_use_else(open_page: Open) -> None:
    app = open_page(PAGE)
    box = next(box for box in app.markdown if "Start with" in box.value)
    words = box.value
    start = next(name for name, row in ENCODINGS.items() if f"**Start with {row.label}**" in words)
    for need, phrase in NEEDS.items():
        if (criterion := CRITERIA.get(need)) is not None:
            best = columns_at(1)[need].among_best
            assert (phrase in box.help) <= (start in best), "what is said is what the table shows"
            assert criterion.need in words + box.help, "every need is spoken of"
    assert not app.table, "the table is folded"
    app.button_group(key=SETTINGS.widget_key("needs")).set_value(["absolute"]).run()
    words = next(box.value for box in app.markdown if "Start with" in box.value)
    start = next(name for name, row in ENCODINGS.items() if f"**Start with {row.label}**" in words)
    assert start in columns_at(1)["absolute"].among_best
    assert app.query_params["needs"] in ("absolute", ["absolute"])


def test_the_table_begins_with_what_meets_the_needs_and_says_how_it_was_measured(open_page: Open) -> None:
    app = open_page(PAGE, view="choose", needs="offsets,parameters", tested="4")
    (table,) = app.table
    assert len(table.value) == len(COMPARED)
    assert table.value["Extra parameters"].iloc[0] == "0"
    assert "A fixed distance (3 back, 4×)" in table.value
    assert any(
        head.startswith("Characters, a short training (text, 4×, nats; counting 1 to 6: 3.31 2.54 2.16 1.86 1.73 1.70)")
        for head in table.value
    )
    assert "Mostly short sequences (3 back)" in table.value, "asked about at the trained length alone"
    app = open_page(PAGE, view="choose")
    (table,) = app.table
    assert "A fixed distance (3 back, 2×)" in table.value, "at the trained length it is no column"
    assert "Every number (CSV)" in [button.proto.label for button in app.get("download_button")]
    assert "python -m tools.evidence choice" in page_text(app)


def test_in_the_shipped_table_no_grey_or_red_cell_shows_a_number_as_good_as_a_green_one() -> None:
    for times in (1, 2, 4, 8):
        for one in columns_at(times).values():
            shown = {name: round(cell["number"], 2) for name, cell in one.cells.items() if cell["number"] is not None}
            better = min if one.criterion.lower_is_better else max
            for name in shown.keys() - one.among_best:
                beside = {better(shown[name], shown[green]) == shown[name] for green in one.among_best}
                assert one.cells[name]["state"] == "not learned" or not any(beside), (one.criterion.slug, times, name)


def test_the_table_waits_for_no_worker_and_says_where_its_times_were_measured(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(PAGE, a="designed")

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("a worker was asked")

    monkeypatch.setattr(questions, "ask", fail)
    app.session_state[TABLE] = True
    (table,) = app.run().table
    assert ENCODINGS["designed"].label not in table.value.index, "a design has no row"
    times = dict(zip(table.value.index, table.value["Forward time"], strict=True))
    shipped = shipped_times()
    assert times["RoPE"].startswith(f"{shipped.by_encoding['rope']['ratio']:.2f} ×")
    assert f"Times: {shipped.machine['processor']}, one core, {shipped.machine['date']}." in page_text(app)


SELDOM = CRITERIA["seldom"]
FACTS = column(SELDOM, trials=[])
EMPTY = FACTS.cells["rope"]
TIMED = {"ratio": 1.5, "low": 1.25, "high": 1.75, "seconds": 0.004}


def cell(**changes: Any) -> TableCell:
    return {**EMPTY, "seeds": 8, **changes}  # type: ignore[typeddict-item]


def test_the_share_of_unknown_characters_stands_beside_each_number_of_a_text() -> None:
    text = CRITERIA["text"]
    for size, shown_share in ((55, True), (80, False)):
        criterion = replace(text, settings={**text.settings, "vocab_size": size})
        arm = arm_of(criterion, "rope")
        trials = [Trial(arm.name, seed, {criterion.number(1): 2.0}) for seed in range(16)]
        one = column(criterion, 1, trials)
        assert ("% unknown;" in head(one), "% unknown, 16 seeds" in hover(one, "rope")) == (shown_share, shown_share)


def test_below_the_table_stand_published_numbers_and_the_scale_of_what_is_not_as_by_default(open_page: Open) -> None:
    words = page_text(open_page(PAGE, view="choose"))
    assert (
        "RoPE: 2 of the 4 pairs of dimensions of a head turn once or more within the trained length (base 100)."
        in words
    )
    assert "[Press et al. 2022, table 2](https://arxiv.org/abs/2108.12409)" in words
    assert "RoPE 20.07 (no difference there)" in words


def test_the_table_links_every_cell_and_tells_all_facts_on_hover() -> None:
    best = cell(state="best", number=0.9, ci=(0.8, 1.0), range=(0.7, 1.0), behind=0.0)
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
    sentence = "accuracy 0.900 (0.800 to 1.000), 8 seeds, from 0.700 to 1.000. The best one:"
    assert hover(one, "rope").startswith(sentence)
    assert scope_of(SELDOM).capitalize() in hover(one, "rope"), "the scale of the models"
    assert "of the 4 pairs of dimensions" in hover(one, "rope")
    assert "Behind RoPE by 0.400: worse." in hover(one, "nope")
    assert hover(one, "learned").startswith("The model cannot be run there (8 seeds")
    assert hover(FACTS, "rope").startswith("Not measured yet.")
    assert len({icon_of(one, "rope"), icon_of(one, "nope"), icon_of(FACTS, "rope")}) == 3
    assert icon_of(one, "learned") == icon_of(one, "nope")

    sentence = evidence_styled(["rope"], [one], {"rope": CostRow(0, TIMED)}).data["Forward time"].iloc[0]  # type: ignore
    assert sentence.split("  \n") == ["1.50 ×", ":small[1.25 to 1.75, 4 ms]"]


def test_a_cell_shows_the_price_of_few_data_and_a_mark_where_counting_is_better() -> None:
    few, text = CRITERIA["few"], CRITERIA["text"]
    costs = {"rope": CostRow(0, None)}

    def first_cell(one: Column) -> str:
        return str(evidence_styled(["rope"], [one], costs).data.iloc[0, 0])  # type: ignore[attr-defined]

    one = Column(
        few,
        1,
        {"rope": cell(state="best", number=0.88, fresh=0.98, price=-0.1, paired=7)},
        column(few, trials=[]).arms,
        {"rope": {}},
    )
    assert first_cell(one).startswith("[0.88 (−0.10)](lab?")
    assert "; with fresh sequences 0.980 (7 seeds)" in hover(one, "rope")
    arm = arm_of(text, "rope").name
    for loss, mark in ((2.29, " ▾"), (2.1, "")):
        one = column(text, 1, [Trial(arm, seed, {text.number(1): loss}) for seed in range(16)])
        assert first_cell(one).startswith(f"[{loss:.2f}{mark}](lab?")
