"""The messages of a stream: each made once, the same for all who listen, and none of them lost."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock
from weakref import ref

import pytest

from pages.parts.boards.live import feed as live_feed
from pages.parts.web.live import KEPT, RECENT, Message, Messages, MessagesOfRuns, Moment
from tests.pages.web.test_live import messages as messages_in
from tests.scripted import ScriptedRun

COME = Moment(0)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Counts the messages that are made."""
    counted = Mock(wraps=live_feed.feed)
    monkeypatch.setattr(live_feed, "feed", counted)
    return counted


@pytest.fixture
def run() -> ScriptedRun:
    return ScriptedRun().advance(5)


def told(messages: Messages, heard: Moment = COME) -> Iterator[Message]:
    """All that somebody hears who knows so much, up to now."""
    while heard != messages.now:
        message = messages.made(heard) or messages.make(heard)
        yield message
        heard = message.upto


def payload_of(message: Message) -> dict[str, Any]:
    ((_, payload),) = messages_in(message.body.decode())
    return payload


def steps_in(messages: list[Message]) -> list[int]:
    return [step for message in messages for step in payload_of(message).get("columns", {}).get("loss", ([], []))[0]]


def test_two_hundred_who_come_at_once_cost_one_message(run: ScriptedRun, made: Mock) -> None:
    messages = Messages(run)
    with ThreadPoolExecutor(16) as threads:
        bodies = list(threads.map(lambda _: messages.make(COME).body, range(200)))
    assert len({id(body) for body in bodies}) == 1
    assert made.call_count == 1


def test_who_comes_later_or_asks_at_another_time_gets_the_same_and_misses_nothing(run: ScriptedRun, made: Mock) -> None:
    messages = Messages(run)
    quick, slow = list(told(messages)), list(told(messages))
    for _ in range(6):
        run.advance(2)
        quick += told(messages, quick[-1].upto)
    slow += told(messages, slow[-1].upto)
    late = list(told(messages))
    assert steps_in(quick) == steps_in(slow) == steps_in(late) == list(range(1, 18))
    assert late[0].body is slow[0].body is quick[0].body
    assert made.call_count == 7, "nothing was made again"
    run.advance(999)
    (message,) = told(messages, quick[-1].upto)
    assert message.last
    assert message.upto == (len(run.events), "finished", None)


def test_states_that_come_back_without_an_event_go_round_in_no_circle(run: ScriptedRun) -> None:
    messages = Messages(run)
    heard = list(told(messages))
    for state in ("paused", "running", "paused", "running"):
        run.state = state
        heard += told(messages, heard[-1].upto)
    assert [payload_of(message)["status"]["state"] for message in heard] == [
        "running", "paused", "running", "paused", "running",
    ]  # fmt: skip
    run.advance(2)
    for at in {message.upto for message in heard}:
        assert steps_in(list(told(messages, at))) == [6, 7]


def test_what_is_kept_does_not_grow_and_who_was_away_for_long_misses_nothing(run: ScriptedRun) -> None:
    messages = Messages(run)
    away = list(told(messages))
    heard, made = away[-1].upto, list[ref[Message]]()
    for _ in range(3 * KEPT):
        run.advance(1)
        message = messages.make(heard)
        heard = message.upto
        made.append(ref(message))
    del message
    assert sum(one() is not None for one in made) <= KEPT
    assert steps_in([*away, *told(messages, away[-1].upto)]) == list(range(1, 6 + 3 * KEPT))


def test_a_runs_messages_are_those_of_all_who_listen_and_go_with_the_last() -> None:
    of_runs, first = MessagesOfRuns(), ScriptedRun(id="first")
    listening = of_runs.of(first)
    others = [ref(of_runs.of(ScriptedRun(id=f"run {number}"))) for number in range(3 * RECENT)]
    assert of_runs.of(first) is listening
    assert of_runs.of(ScriptedRun(id="first")) is not listening, "the store read the run anew"
    assert sum(one() is not None for one in others) <= RECENT
