"""The board of a simulated session: the points that were seen, and what its page must hear of."""

from typing import Any

from tests.load.page import Board


def news(last: int, step: int, state: str = "running") -> dict[str, Any]:
    return {"last": last, "status": {"state": state, "step": step, "problem": ""}}


def test_only_messages_that_bring_further_steps_count_as_updates_and_too_few_give_no_rate() -> None:
    board = Board("run")
    for message in (news(0, 0, "queued"), news(1, 0), news(5, 4), news(6, 4), news(9, 8), news(12, 10, "finished")):
        board.take(message)
    assert len(board.points) == 3
    assert board.ended
    assert board.updates_per_second is not None

    board = Board("run")
    board.take(news(5, 4))
    assert board.updates_per_second is None


def test_the_page_hears_of_an_end_once_and_not_of_a_place_in_the_queue() -> None:
    board = Board("run")
    board.take(news(1, 0))
    assert not board.tells("queued")
    board.take(news(5, 4, "finished"))
    assert board.tells("queued")
    assert not board.tells("queued")
