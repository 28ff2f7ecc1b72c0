"""The start page: one button leads from an untrained model to a cut line and two swapped digits; where nothing can be trained, on a
recorded run."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from engine.estimate.device import DeviceFacts
from engine.experiments.lessons import LESSONS, TUTORIAL
from engine.experiments.run_readings import score_of
from engine.foundation.errors import Refused
from engine.runs.events import Snapshot
from engine.runs.run import Run
from engine.serving.health import Health
from pages.parts.app import server
from pages.parts.boards.recorded import recorded_run
from pages.parts.start import CONFIG, PRESSES, RUN, WAY, workers_in_words
from tests.pages.looking import Open, disabled, labels, press, said
from tests.tables import tables_beside

CASES = tables_beside(__file__)


def test_one_button_trains_cuts_swaps_and_begins_again_beside_three_doors(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("start.py")
    assert app.title[0].value == "Attention Lab"
    assert {"lab", "questions", "encodings"} <= {link.proto.page for link in app.get("page_link")}
    assert len([label for label in labels(app) if label != "Glossary"]) == 1
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
    assert "**Now 100 % of its answers to new sequences are right.**" in said(app)
    assert score_of(run.config, run.events).value == 1
    last = run.events.of(Snapshot)[-1].samples[0]
    assert last.tokens[0] != last.tokens[CONFIG.seq_len - 1], "two digits that differ change places"
    for now in WAY[1:]:
        assert not disabled(app, now.label)
        assert now.says in said(app)
        press(app, now.label)
        links = {link.proto.label: link.proto for link in app.get("page_link")}
        assert (LESSONS[TUTORIAL].title in links) == (now is WAY[-2]), "it goes on there once all is done"
    assert WAY[0].says in said(app)
    assert RUN not in app.session_state


def test_where_a_run_is_refused_the_recorded_one_is_shown_and_cut(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("start.py")

    def full(_: object) -> None:
        raise Refused("This host is full.")

    monkeypatch.setattr(server.pool(), "submit", full)
    press(app, WAY[0].label)
    assert "This host is full." in said(app)
    assert app.session_state[RUN] == recorded_run().id
    assert not disabled(app, WAY[1].label)
    assert "of its answers to new sequences are right.**" in said(app)


def test_in_the_recorded_run_something_happens() -> None:
    marked = [[mark for one in event.samples for mark in one.marks] for event in recorded_run().events.of(Snapshot)]
    right = [sum(filter(None, marks)) / sum(mark is not None for mark in marks) for marks in marked]
    assert right[0] < 0.3
    assert right[-1] > 0.95


def workers(*rows: tuple[str, str]) -> Health:
    """Ready workers by the names of machine and accelerator."""
    facts = DeviceFacts(torch="2.13.0")
    same = {"role": "runs", "ready": True, "facts": facts}
    found: list[Any] = [
        SimpleNamespace(machine=machine, address=machine, accelerator=name, **same) for machine, name in rows
    ]
    return Health(found, len(found), 0, 0, 0)


@pytest.mark.parametrize(("rows", "told"), CASES["workers"])
def test_the_workers_are_told_with_their_devices_and_machines(rows: list[tuple[str, str]], told: str) -> None:
    assert workers_in_words(workers(*rows)) == told
    gone = workers_in_words(replace(workers(*rows), cluster_is_gone=True))
    assert gone.startswith(told)
    assert "The cluster cannot be reached" in gone
