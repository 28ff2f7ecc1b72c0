"""The start page: its words follow from the recorded run and from nothing else."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.config.presets import PRESETS
from engine.experiments.issues import ISSUES
from engine.hosting.host import DeviceFacts
from engine.runs.events import Snapshot
from engine.workers.health import Health
from pages.parts.app.frame import PLACES
from pages.parts.boards.recorded import recorded_example, recorded_head, recorded_run
from pages.parts.start import conclusion, recording_in_words, workers_in_words
from tests.pages.looking import Open, said
from tests.tables import tables_beside

CASES = tables_beside(__file__)


def test_the_page_carries_its_example_with_the_untrained_answers_and_leads_on_without_the_end(open_page: Open) -> None:
    app = open_page("start.py")
    assert app.title[0].value == "Attention Lab"
    words, example = said(app), recorded_example()
    right = [target for target in example.targets if target]
    written = [guess for guess, target in zip(example.predictions, example.targets, strict=True) if target]
    for names in (example.tokens[: len(right)], right, written):
        assert f"`{' '.join(names)}`" in words
    assert right == example.tokens[: len(right)][::-1]
    assert conclusion(recorded_head()) not in words, "that is told when it has been played"
    assert {"lab", "attention", "lessons", "issues"} <= {link.proto.page for link in app.get("page_link")}
    assert len(app.get("page_link")) >= len(PRESETS) + len(ISSUES) + len(PLACES[0].views)


def test_the_conclusion_names_the_head_and_its_cost_and_its_line_rises_to_the_right_on_screen() -> None:
    head = recorded_head()
    told = conclusion(head)
    assert f"Head {head.place.head + 1} of layer {head.place.layer + 1} does the work" in told
    assert f"{head.whole:.0%}" in told
    assert f"{head.without:.0%}" in told
    other = conclusion(replace(head, place=replace(head.place, head=4), without=0.5, kind="uniform"))
    assert "Head 5 of layer 1 does the work: without it 50% are." in other
    assert "rises" not in other

    # Rows are queries from top to bottom, columns keys from left to right: towards the right the rows must be higher.
    last = recorded_run().events.of(Snapshot)[-1]
    pattern = last.patterns[head.place.which][head.place.layer, head.place.head]
    asked = [place for place, target in enumerate(last.samples[0].targets) if target]
    strongest = np.array([pattern[query].argmax() for query in asked])
    assert np.corrcoef(asked, strongest)[0, 1] < -0.9
    assert "rises to the right" in told


def test_the_recording_is_described_by_its_settings_and_something_happens_within_it() -> None:
    config, words = recorded_run().config, recording_in_words(recorded_run())
    for part in (f"seed {config.seed}", f"{config.steps} steps", config.encoding.label):
        assert part in words

    marked = [[mark for one in event.samples for mark in one.marks] for event in recorded_run().events.of(Snapshot)]
    right = [np.mean([mark for mark in marks if mark is not None]) for marks in marked]
    assert right[0] < 0.3
    assert right[len(right) // 2] < 0.7, "it waits"
    assert right[-1] > 0.95


def workers(*rows: tuple[str, str]) -> Health:
    """Ready workers by the names of machine and accelerator."""
    facts = DeviceFacts(torch="2.13.0")
    same = {"role": "runs", "ready": True, "facts": facts}
    found: list[Any] = [SimpleNamespace(machine=machine, accelerator=name, **same) for machine, name in rows]
    return Health(found, len(found), 0, 0, 0)


@pytest.mark.parametrize(("rows", "told"), CASES["workers"])
def test_the_workers_are_told_with_their_devices_and_machines(rows: list[tuple[str, str]], told: str) -> None:
    assert workers_in_words(workers(*rows)) == told
    gone = workers_in_words(replace(workers(*rows), cluster_is_gone=True))
    assert gone.startswith(told)
    assert "The cluster cannot be reached" in gone
