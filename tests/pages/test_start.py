from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from engine.estimate.device import DeviceFacts
from engine.experiments.lessons import LESSONS, TUTORIAL, Guide
from engine.experiments.run_readings import score_of
from engine.foundation.errors import Refused
from engine.runs.events import Snapshot
from engine.runs.run import Run
from engine.serving.health import Health
from pages.parts.app import server
from pages.parts.app.earlier import EARLIER
from pages.parts.app.in_markdown import escaped
from pages.parts.boards.recorded import recorded_run
from pages.parts.start import CONFIG, DOORS, PRESSES, RUN, WAY, workers_in_words
from tests.pages.looking import (
    Open,
    disabled,
    guess,
    labels,
    notes_of,
    page_text,
    press,
    question,
    run_of,
    store_ended_run,
    trained,
)
from tests.tables import tables_beside

CASES = tables_beside(__file__)
STEPS = LESSONS[TUTORIAL].steps
GUIDES = [step.guide for step in STEPS if isinstance(step.guide, Guide)]
FIRST_GUESS = "Guess first"


def at_earlier_address(open_page: Open, **link: str) -> AppTest:
    moved = EARLIER["story"]
    return open_page(moved.file, **moved.query(link))


def blue(app: AppTest) -> list[str]:
    return [button.label for button in app.button if button.proto.type == "primary"]


def test_the_blue_button_trains_cuts_swaps_and_leads_on_and_a_quiet_one_begins_again(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("start.py")
    assert app.title[0].value == "Attention Lab"
    assert {(address, urlencode(query)) for address, query, _, _ in DOORS} <= {
        (link.proto.page, link.proto.query_string) for link in app.get("page_link")
    }
    assert [label for label in labels(app) if label != "Glossary"] == [WAY[0].label]
    press(app, WAY[0].label)
    run = server.find(app.session_state[RUN])
    assert run.config == CONFIG
    assert run.wait_for(10**9, 600)
    app.run()
    with monkeypatch.context() as patch:
        patch.setattr(Run, "live", True)  # as at the second click of a double click
        app.button(key="start.press").click().run()
        assert app.session_state[PRESSES] == 1
    app.run()
    assert "**Now 100 % of its answers to new sequences are right.**" in page_text(app)
    assert score_of(run.config, run.events).value == 1
    last = run.events.of(Snapshot)[-1].samples[0]
    assert last.tokens[0] != last.tokens[CONFIG.seq_len - 1], "two digits that differ change places"
    for now in WAY[1:]:
        assert blue(app) == [now.label]
        assert not disabled(app, now.label)
        assert now.says in page_text(app)
        assert ("Start over" in labels(app)) == (now is WAY[-1])
        if now is not WAY[-1]:
            press(app, now.label)
    press(app, "Start over")
    assert WAY[0].says in page_text(app)
    assert RUN not in app.session_state


def test_where_a_run_is_refused_the_recorded_one_is_shown_and_cut_and_leads_to_the_steps(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("start.py")

    def full(_: object) -> None:
        raise Refused("This host is full.")

    monkeypatch.setattr(server.pool(), "submit", full)
    press(app, WAY[0].label)
    assert "This host is full." in page_text(app)
    assert app.session_state[RUN] == recorded_run().id
    assert "of its answers to new sequences are right.**" in page_text(app)
    for now in WAY[1:]:
        press(app, now.label)
    assert app.title[0].value == GUIDES[0].title
    assert "This host is full." in page_text(press(app, "Train"))
    press(app, "Back")
    assert WAY[-1].says in page_text(app), "the picture is as it was left"


def test_in_the_recorded_run_something_happens() -> None:
    marked = [[mark for one in event.samples for mark in one.marks] for event in recorded_run().events.of(Snapshot)]
    right = [sum(filter(None, marks)) / sum(mark is not None for mark in marks) for marks in marked]
    assert right[0] < 0.3
    assert right[-1] > 0.95


def test_six_steps_follow_one_another_and_lead_into_the_lab_with_what_was_chosen(open_page: Open) -> None:
    app = open_page("start.py", step="1")
    for number, guide in enumerate(GUIDES, 1):
        assert app.title[0].value == guide.title
        assert f"Step {number} of {len(GUIDES)}" in page_text(app)
        assert f"**{escaped(guide.asks)}**" in page_text(app)
        assert question(app).options == [escaped(answer) for answer in guide.answers]
        assert question(app).value is None
        assert guide.leads_to not in page_text(app)
        assert app.query_params == {"step": str(number)}, "a link never starts a run"
        assert blue(app) == ["Train"]
        if number < len(GUIDES):
            press(app, "Next step")
    assert press(app, "Back").title[0].value == GUIDES[-2].title
    assert "start.set.choice" not in [one.key for one in app.segmented_control], "the setting may change after a run"
    app = open_page("start.py", step=str(len(GUIDES)), choice="true")
    press(app, "Open the lab")
    assert app.title[0].value == "Lab"
    assert app.session_state["form"] == STEPS[-1].config.replace(shaw_values=True).flat()


def test_a_run_answers_a_guess_each_value_has_its_own_and_a_reload_keeps_both(open_page: Open) -> None:
    app, guide = open_page("start.py", step="1"), GUIDES[0]
    trained(app)
    assert FIRST_GUESS in page_text(app)
    assert guide.leads_to not in page_text(app)
    assert blue(guess(app, "Yes, always")) == ["Next step"]
    first = run_of(app)
    assert first.config == STEPS[0].config
    for shown in (app, open_page("start.py", **app.query_params)):
        assert run_of(shown) is first
        assert ":green[:material/check:] You said: *Yes, always*. **Right.** The figure has" in page_text(shown)
        assert guide.teaches[2] in page_text(shown)
        assert guide.leads_to in page_text(shown)
        assert question(shown).proto.disabled
    (note,) = notes_of(app).values()
    assert (note.guess, note.question) == ("Yes, always", guide.asks)
    assert note.finding.startswith("Yes, always. The figure has")
    assert "Depth 1, seed 0" in note.run

    app.segmented_control(key="start.set.choice").set_value(2).run()
    assert (question(app).value, question(app).proto.disabled) == (None, False)
    assert "run" not in app.query_params
    trained(guess(app, "Sometimes"))
    assert "You said: *Sometimes*. Measured: **Yes, always**." in page_text(app)
    assert run_of(app).config == first.config.replace(n_layers=2)
    app.segmented_control(key="start.set.choice").set_value(1).run()
    assert run_of(app) is first
    assert "You said: *Yes, always*." in page_text(app)


def test_the_earlier_address_of_the_steps_leads_to_each_with_its_choice_its_seed_and_its_run(open_page: Open) -> None:
    assert at_earlier_address(open_page).title[0].value == GUIDES[0].title
    run = store_ended_run(STEPS[1].config.replace(pos_encoding="nope", seed=4))
    for link in ({}, {"choice": "nope", "seed": "4", "guess": "nearly all"}):
        app = at_earlier_address(open_page, step="2", run=run.id, **link)
        assert not app.warning
        assert app.title[0].value == GUIDES[1].title
        assert run_of(app) is run
        assert app.segmented_control(key="start.set.choice").value == "nope"
        assert FIRST_GUESS in page_text(app)
    app = trained(at_earlier_address(open_page, step="2", choice="sinusoidal", seed="3"))
    assert run_of(app).config == STEPS[1].config.replace(pos_encoding="sinusoidal", seed=3)


def test_what_is_wrong_in_a_link_is_named(open_page: Open) -> None:
    other = store_ended_run(STEPS[0].config.replace(steps=3))
    app = at_earlier_address(open_page, step="7", seed="-1")
    assert "`step` is `7`; it must be a whole number from 0 to 6." in page_text(app)
    assert "`seed` is `-1`; it must be a whole number from 0" in page_text(app)
    app = open_page("start.py", step="2", choice="fire", run=other.id, zork="1")
    assert "`choice` is `fire`; it must be one of nope, learned, sinusoidal." in page_text(app)
    assert f"`run` is `{other.id}`; it must be a run of this step that this server still has." in page_text(app)
    assert "`zork` is not a setting here." in page_text(app)
    assert app.title[0].value == GUIDES[1].title
    assert "run" not in app.query_params


def workers(*rows: tuple[str, str]) -> Health:
    """Ready workers by the names of machine and accelerator."""
    facts = DeviceFacts(torch="2.13.0")
    same = {"role": "runs", "ready": True, "facts": facts}
    found: list[Any] = [
        SimpleNamespace(machine=machine, address=machine, accelerator=name, **same) for machine, name in rows
    ]
    return Health(found, len(found), 0, 0, 0)


@pytest.mark.parametrize(("rows", "sentence"), CASES["workers"])
def test_the_workers_are_told_with_their_devices_and_machines(rows: list[tuple[str, str]], sentence: str) -> None:
    assert workers_in_words(workers(*rows)) == sentence
    without_cluster = workers_in_words(replace(workers(*rows), cluster_is_gone=True))
    assert without_cluster.startswith(sentence)
    assert "The cluster cannot be reached" in without_cluster
